import { ModelError } from '@offshoot/model'
import { ToolError } from '@offshoot/tools'
import { describe, expect, it } from 'vitest'
import { type Agent, AgentError, type AgentOptions } from '../src/index.ts'
import { type App, gate, never, record, start, tool, transcript } from './support.ts'

/** An app whose `block` tool runs until it is let go, whatever becomes of its turn. */
async function blocked(): Promise<App & { agent: Agent, release: () => void, turn: Promise<unknown> }> {
  const app = await start([{ calls: [{ name: 'block' }] }, 'never'])
  const running = gate()
  const release = gate()
  app.ctx.tools.register(tool('block', { execute: async () => { running.open(); await release.opened; return 'let go' } }))
  const agent = app.ctx.agents.create()
  const turn = agent.run('Go.')
  await running.opened
  return { ...app, agent, release: release.open, turn }
}

describe('ctx.agents.create()', () => {
  it('makes an agent with what it was given, and with the app\'s defaults for the rest', async () => {
    const { ctx } = await start([], { maxSteps: 9 })
    const agent = ctx.agents.create()
    expect(agent).toMatchObject({ id: 'agent-1', label: 'main', depth: 0, parent: undefined, cwd: process.cwd(), modelName: 'main', maxSteps: 9, maxOutputTokens: undefined, state: 'idle' })
    expect(agent.session.header).toMatchObject({ depth: 0, cwd: process.cwd() })
    expect(agent.session.header).not.toHaveProperty('parent')
    expect(ctx.agents.create({ label: 'scout', cwd: '/srv', maxSteps: 1, maxOutputTokens: 5 })).toMatchObject({ id: 'agent-2', label: 'scout', cwd: '/srv', maxSteps: 1, maxOutputTokens: 5 })
  })

  it('gives a child its parent\'s model and working directory, one level more, and a session that names the parent\'s', async () => {
    const { ctx, model } = await start([], { maxSteps: 9 })
    ctx.models.register('other', model)
    const parent = ctx.agents.create({ model: 'other', cwd: '/srv', maxSteps: 2, persona: 'Boss.', maxOutputTokens: 5 })
    const child = ctx.agents.create({ parent })
    expect(child).toMatchObject({ parent, depth: 1, modelName: 'other', cwd: '/srv', maxSteps: 9, maxOutputTokens: undefined, persona: undefined })
    expect(child.session.header).toMatchObject({ parent: parent.session.id, depth: 1, cwd: '/srv' })
    expect(ctx.agents.create({ parent: child, cwd: '/tmp', model: 'main' })).toMatchObject({ depth: 2, cwd: '/tmp', modelName: 'main' })
  })

  it('takes the app\'s model where one is configured', async () => {
    const { ctx, model } = await start([], { model: 'other' })
    expect(() => ctx.agents.create()).toThrow(ModelError)
    ctx.models.register('other', model)
    expect(ctx.agents.create().modelName).toBe('other')
  })

  const refused: [string, AgentOptions, unknown][] = [
    ['an unknown model, with the nearest', { model: 'mian' }, { code: 'UNKNOWN_MODEL', message: 'no model "mian"; did you mean "main"? (models: main)' }],
    ['a filter with neither key', { toolFilter: {} }, { code: 'EMPTY_FILTER' }],
    ['a relative working directory', { cwd: 'src' }, { code: 'INVALID_AGENT', message: 'the working directory "src" is not absolute' }],
    ['a step limit of 0', { maxSteps: 0 }, { code: 'INVALID_AGENT', message: 'maxSteps must be a whole number from 1, not 0' }],
    ['half a step', { maxSteps: 1.5 }, { code: 'INVALID_AGENT' }],
  ]
  it.each(refused)('refuses %s, and leaves nothing behind', async (_what, options, error) => {
    const { ctx } = await start()
    const created: Agent[] = []
    ctx.on('agent/created', agent => { created.push(agent) })
    const parent = ctx.agents.create()
    expect(() => ctx.agents.create({ ...options, parent })).toThrow(expect.objectContaining(error as object))
    expect(created).toEqual([parent])
    expect(ctx.agents.list()).toEqual([parent])
  })

  it('refuses a parent that is disposed', async () => {
    const { ctx } = await start()
    const parent = ctx.agents.create()
    await parent.dispose()
    expect(() => ctx.agents.create({ parent })).toThrow(expect.objectContaining({ code: 'AGENT_DISPOSED', message: `agent ${parent.id} is disposed and can have no child` }))
    expect(ctx.agents.list()).toEqual([])
  })

  it('refuses with errors that have a class: AgentError, ModelError, ToolError', async () => {
    const { ctx } = await start()
    expect(() => ctx.agents.create({ cwd: '.' })).toThrow(AgentError)
    expect(() => ctx.agents.create({ toolFilter: {} })).toThrow(ToolError)
  })
})

describe('an agent', () => {
  it('runs one turn at a time', async () => {
    const { agent, release, turn } = await blocked()
    expect(agent.state).toBe('running')
    await expect(agent.run('Again.')).rejects.toMatchObject({ name: 'AgentError', code: 'AGENT_BUSY' })
    release()
    await turn
    expect(agent.state).toBe('idle')
    expect(transcript(agent.session)).not.toContain('user: Again.')
  })

  it('says what its turn is doing, and nothing between turns', async () => {
    const { agent, release, turn } = await blocked()
    expect(agent.progress).toEqual({ step: 1, logLength: 0, tool: 'block', waitsFor: 'tools', heardAt: expect.any(Number), hasAnswered: true, usage: { steps: 1, toolCalls: 1, unreportedSteps: 1, durationMs: expect.any(Number) } })
    expect(agent.turnSignal).toBeInstanceOf(AbortSignal)
    release()
    await turn
    expect(agent.progress).toBeUndefined()
    expect(agent.turnSignal).toBeUndefined()
  })

  it('says which of several running tools began last', async () => {
    const { ctx } = await start([{ calls: [{ name: 'a' }, { name: 'b' }] }, 'done'])
    const gates = { a: gate(), b: gate() }
    const started = gate()
    for (const name of ['a', 'b'] as const) {
      ctx.tools.register(tool(name, { concurrency: 'parallel', execute: async () => { if (name === 'b') started.open(); await gates[name].opened; return name } }))
    }
    const agent = ctx.agents.create()
    const bEnded = gate()
    agent.on(event => { if (event.type === 'tool-end' && event.name === 'b') bEnded.open() })
    const turn = agent.run('Go.')
    await started.opened
    expect(agent.progress?.tool).toBe('b')
    gates.b.open()
    await bEnded.opened
    expect(agent.progress?.tool).toBe('a')
    gates.a.open()
    await turn
  })

  it('keeps its model to the end of a turn, and is refused the next when the model is withdrawn', async () => {
    const { ctx, model } = await start([{ calls: [{ name: 'withdraw' }] }, 'done'])
    const withdraw = ctx.models.register('other', model)
    ctx.tools.register(tool('withdraw', { execute: () => { withdraw(); return 'gone' } }))
    const agent = ctx.agents.create({ model: 'other' })
    expect((await agent.run('Go.')).stopReason).toBe('completed')
    await expect(agent.run('Again.')).rejects.toMatchObject({ code: 'UNKNOWN_MODEL' })
    expect(agent.state).toBe('idle')
    expect(transcript(agent.session)).not.toContain('user: Again.')
    ctx.models.register('other', { ...model, doStream: request => model.doStream(request) })
    expect((await agent.run('Again.')).stopReason).toBe('empty-output')
  })

  it('is not left busy by a prompt that is none', async () => {
    const { ctx } = await start(['ok'])
    const agent = ctx.agents.create()
    await expect(agent.run(undefined as never)).rejects.toThrow(TypeError)
    expect((await agent.run('Go.')).stopReason).toBe('completed')
  })
})

describe('dispose()', () => {
  it('of an idle agent is done at once; after it, nothing runs', async () => {
    const { ctx } = await start()
    const agent = ctx.agents.create()
    const gone = agent.dispose()
    expect([agent.state, ctx.agents.list()]).toEqual(['disposed', []])
    await gone
    await expect(agent.run('Go.')).rejects.toMatchObject({ name: 'AgentError', code: 'AGENT_DISPOSED' })
  })

  it('is idempotent: one promise, one event', async () => {
    const { ctx } = await start(() => ({ hold: never }))
    const disposed: Agent[] = []
    ctx.on('agent/disposed', agent => { disposed.push(agent) })
    const agent = ctx.agents.create()
    const turn = agent.run('Go.')
    expect(agent.dispose()).toBe(agent.dispose())
    await agent.dispose()
    expect(await turn).toMatchObject({ stopReason: 'aborted', diagnostic: 'the agent was disposed' })
    await agent.dispose()
    expect(disposed).toEqual([agent])
  })

  it('while a turn runs aborts it, and waits until its tool has ended', async () => {
    const { ctx, agent, release, turn } = await blocked()
    const order: string[] = []
    ctx.on('agent/disposed', () => { order.push('agent/disposed') })
    void turn.then(() => { order.push('turn ended') })
    const gone = agent.dispose().then(() => { order.push('disposed') })
    expect([agent.state, ctx.agents.list()]).toEqual(['disposed', [agent]])
    await Promise.resolve()
    expect(order).toEqual([])
    release()
    await gone
    expect(order).toEqual(['turn ended', 'agent/disposed', 'disposed'])
  })

  it('disposes children first, the deepest before the others', async () => {
    const { ctx } = await start(() => ({ hold: never }))
    const disposed: string[] = []
    ctx.on('agent/disposed', ({ label }) => { disposed.push(label) })
    const root = ctx.agents.create({ label: 'root' })
    const child = ctx.agents.create({ parent: root, label: 'child' })
    const grandchild = ctx.agents.create({ parent: child, label: 'grandchild' })
    const turns = [root, child, grandchild].map(agent => agent.run('Go.'))
    await root.dispose()
    expect(disposed).toEqual(['grandchild', 'child', 'root'])
    expect((await Promise.all(turns)).map(({ stopReason }) => stopReason)).toEqual(['aborted', 'aborted', 'aborted'])
    expect(ctx.agents.list()).toEqual([])
  })

  it('of a child leaves its parent and siblings alone', async () => {
    const { ctx } = await start(() => 'ok')
    const parent = ctx.agents.create()
    const [one, two] = [ctx.agents.create({ parent }), ctx.agents.create({ parent })]
    await one.dispose()
    expect(ctx.agents.list()).toEqual([parent, two])
    expect((await two.run('Go.')).stopReason).toBe('completed')
  })

  it('is what `await using` does', async () => {
    const { ctx } = await start()
    {
      await using agent = ctx.agents.create()
      expect(ctx.agents.list()).toEqual([agent])
    }
    expect(ctx.agents.list()).toEqual([])
  })

  it.each(['agent/disposed', 'turn-start', 'turn-end', 'abort'])('called from within (%s) is the same disposal, and it waits for the turn', async (when) => {
    const { ctx } = await start(['ok'])
    const disposed: string[] = []
    ctx.on('agent/disposed', each => {
      disposed.push(each.state)
      if (when === 'agent/disposed') void each.dispose()
    })
    const agent = ctx.agents.create()
    const events = record(agent)
    agent.on(({ type }) => {
      if (type === when) void agent.dispose()
      if (type === 'step-start' && when === 'abort') {
        agent.turnSignal!.addEventListener('abort', () => { void agent.dispose() })
        void agent.dispose()
      }
    })
    const turn = agent.run('Go.')
    if (when === 'agent/disposed') void agent.dispose()
    await agent.dispose()
    expect(events.at(-1)?.type).toBe('turn-end')
    await turn
    expect(disposed).toEqual(['disposed'])
    expect(ctx.agents.list()).toEqual([])
  })

  it('lets nobody make a child in the meantime', async () => {
    const { ctx } = await start(() => ({ hold: never }))
    const parent = ctx.agents.create()
    const refusals: unknown[] = []
    const attempt = (): void => {
      try {
        ctx.agents.create({ parent })
      } catch (error) {
        refusals.push((error as AgentError).code)
      }
    }
    ctx.on('agent/disposed', attempt)
    const turn = parent.run('Go.')
    parent.turnSignal!.addEventListener('abort', attempt)
    await parent.dispose()
    await turn
    expect(refusals).toEqual(['AGENT_DISPOSED', 'AGENT_DISPOSED'])
    expect(ctx.agents.list()).toEqual([])
  })
})

describe('drain()', () => {
  it('disposes every agent, children before their parents, and those that are made meanwhile', async () => {
    const { ctx } = await start(() => ({ hold: never }))
    const disposed: string[] = []
    let late = 0
    ctx.on('agent/disposed', ({ label }) => {
      disposed.push(label)
      if (label === 'root' && late++ === 0) ctx.agents.create({ label: 'late' })
    })
    const root = ctx.agents.create({ label: 'root' })
    const turns = [root.run('Go.'), ctx.agents.create({ parent: root, label: 'child' }).run('Go.')]
    ctx.agents.create({ label: 'idle' })
    await ctx.agents.drain()
    expect(disposed.indexOf('child')).toBeLessThan(disposed.indexOf('root'))
    expect([...disposed].sort()).toEqual(['child', 'idle', 'late', 'root'])
    expect(ctx.agents.list()).toEqual([])
    await Promise.all(turns)
  })

  it('is what unloading the service does', async () => {
    const { ctx } = await start(() => ({ hold: never }))
    const turn = ctx.agents.create().run('Go.')
    const disposed: Agent[] = []
    const { core } = ctx.agents
    ctx.on('agent/disposed', agent => { disposed.push(agent) })
    await ctx.fiber.dispose()
    expect((await turn).stopReason).toBe('aborted')
    expect(core.list()).toEqual([])
  })
})

it('agent/created and agent/disposed are sent once for each agent', async () => {
  const { ctx } = await start(() => 'ok')
  const log: string[] = []
  ctx.on('agent/created', ({ id, state }) => { log.push(`+${id} ${state}`) })
  ctx.on('agent/disposed', ({ id, state }) => { log.push(`-${id} ${state}`) })
  const parent = ctx.agents.create()
  const child = ctx.agents.create({ parent })
  await child.run('Go.')
  await child.dispose()
  await parent.dispose()
  await ctx.agents.drain()
  expect(log).toEqual(['+agent-1 idle', '+agent-2 idle', '-agent-2 disposed', '-agent-1 disposed'])
})
