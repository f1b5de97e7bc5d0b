import type { Agent } from '@offshoot/agent'
import type { Session } from '@offshoot/session'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { App, delegateOnce, gate, isParent, parentTask } from './support.ts'

/** Every tool call in the log has its result, in order. */
function expectBalanced(session: Session): void {
  const messages = session.entries().map(({ message }) => message)
  messages.forEach((message, i) => {
    if (message.role !== 'assistant') return
    const calls = message.content.flatMap(part => part.type === 'tool-call' ? [part.toolCallId] : [])
    const next = messages[i + 1]
    const results = next?.role === 'tool' ? next.content.flatMap(part => part.type === 'tool-result' ? [part.toolCallId] : []) : []
    expect(results).toEqual(calls)
  })
}

/** The agents other than `root`, gone; the tree empty. */
function expectNothingLeft({ ctx }: App, root: Agent): void {
  expect(ctx.agents.list()).toEqual([root])
  expect(ctx.subagents.tree()).toEqual([])
}

/** A tool that blocks until its turn is aborted. */
function blockingTool(app: App): { running: Promise<void>, ended: () => number } {
  const running = gate()
  let ended = 0
  app.ctx.tools.register(defineTool({
    name: 'block', description: 'Blocks.', parameters: Type.Object({}),
    execute: (_args, { signal }) => new Promise((_resolve, reject) => {
      running.open()
      signal!.addEventListener('abort', () => {
        ended++
        reject(new Error('interrupted'))
      }, { once: true })
    }),
  }))
  return { running: running.opened, ended: () => ended }
}

describe('an abort of the parent\'s turn ends the child and leaves a balanced log', () => {
  it('before the delegation starts', async () => {
    await using app = await App.start()
    const controller = new AbortController()
    const agent = app.agent()
    agent.on(event => { if (event.type === 'tool-start') controller.abort() })
    delegateOnce(app.endpoint, { text: 'never' })
    const result = await agent.run(parentTask, { signal: controller.signal })
    expect(result.stopReason).toBe('aborted')
    expect(app.ended).toEqual([])
    expect(app.endpoint.requests.every(isParent)).toBe(true)
    expectBalanced(agent.session)
    expectNothingLeft(app, agent)
  })

  it('between the two calls of a step: the second never runs', async () => {
    await using app = await App.start()
    const controller = new AbortController()
    const agent = app.agent()
    const call = { name: 'subagent', arguments: { description: 'd', prompt: 'p' } }
    app.endpoint.respond(request => isParent(request) ? { calls: [call, call] } : { text: 'first' })
    app.ctx.on('subagent/end', () => { controller.abort() })
    expect((await agent.run(parentTask, { signal: controller.signal })).stopReason).toBe('aborted')
    expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual(['completed'])
    expectBalanced(agent.session)
    expect(JSON.stringify(agent.session.entries().at(-1))).toContain('Error: the call was cancelled before it ran')
    expectNothingLeft(app, agent)
  })

  it('in the child\'s startup, as its provider hands it over', async () => {
    await using app = await App.start()
    const controller = new AbortController()
    const agent = app.agent()
    app.ctx.on('subagent/start', () => { controller.abort() })
    delegateOnce(app.endpoint, { text: 'never' })
    expect((await agent.run(parentTask, { signal: controller.signal })).stopReason).toBe('aborted')
    expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual(['aborted'])
    expect(app.endpoint.requests.every(isParent)).toBe(true)
    expectBalanced(agent.session)
    expectNothingLeft(app, agent)
  })

  it('before the child\'s first token: its request is hung up', async () => {
    await using app = await App.start()
    const atWork = gate()
    delegateOnce(app.endpoint, () => {
      atWork.open()
      return { hold: new Promise(() => {}) }
    })
    const controller = new AbortController()
    const agent = app.agent()
    const turn = agent.run(parentTask, { signal: controller.signal })
    await atWork.opened
    controller.abort()
    expect((await turn).stopReason).toBe('aborted')
    const child = app.endpoint.requests.find(request => !isParent(request))!
    await child.closed
    expect(child.aborted).toBe(true)
    expectBalanced(agent.session)
    expectNothingLeft(app, agent)
  })

  it('in the middle of the child\'s text: what it wrote is kept, and is no answer', async () => {
    await using app = await App.start()
    const controller = new AbortController()
    delegateOnce(app.endpoint, { text: ['Half an', ' answer'], holdAfter: new Promise(() => {}) })
    const agent = app.agent()
    app.ctx.on('agent/created', child => {
      child.on(event => { if (event.type === 'text-delta') controller.abort() })
    })
    expect((await agent.run(parentTask, { signal: controller.signal })).stopReason).toBe('aborted')
    expect(app.ended[0]![1]).toMatchObject({ stopReason: 'aborted', output: [{ type: 'text', text: 'Half an' }] })
    expect(JSON.stringify(agent.session.entries())).not.toContain('Half an')
    expectBalanced(agent.session)
    expectNothingLeft(app, agent)
  })

  it('while the child runs a tool: the tool is told, and awaited', async () => {
    await using app = await App.start()
    const tool = blockingTool(app)
    delegateOnce(app.endpoint, { calls: [{ name: 'block', arguments: {} }] })
    const controller = new AbortController()
    const agent = app.agent()
    let child: Agent | undefined
    app.ctx.on('agent/created', each => { child = each })
    const turn = agent.run(parentTask, { signal: controller.signal })
    await tool.running
    controller.abort()
    expect((await turn).stopReason).toBe('aborted')
    expect(tool.ended()).toBe(1)
    expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual(['aborted'])
    expectBalanced(agent.session)
    expectBalanced(child!.session)
    expectNothingLeft(app, agent)
  })

  it('while a grandchild runs a tool: three levels end, deepest first', async () => {
    await using app = await App.start()
    const tool = blockingTool(app)
    app.endpoint.respond(request => request.body.messages.some(message => message.content === 'level 2')
      ? { calls: [{ name: 'block', arguments: {} }] }
      : { calls: [{ name: 'subagent', arguments: { description: 'd', prompt: request.body.messages.some(message => message.content === 'level 1') ? 'level 2' : 'level 1' } }] })
    const disposed: number[] = []
    app.ctx.on('agent/disposed', each => { disposed.push(each.depth) })
    const agent = app.agent()
    const turn = agent.run(parentTask)
    await tool.running
    expect(app.ctx.subagents.tree()).toMatchObject([{ depth: 1, currentTool: 'subagent', children: [{ depth: 2, currentTool: 'block', children: [] }] }])
    agent.abort()
    expect((await turn).stopReason).toBe('aborted')
    expect(app.ended.map(([{ depth }, { stopReason }]) => [depth, stopReason])).toEqual([[2, 'aborted'], [1, 'aborted']])
    expect(disposed).toEqual([2, 1])
    expectBalanced(agent.session)
    expectNothingLeft(app, agent)
  })

  it('in the disposal of a child that has answered: the answer stands in the log', async () => {
    await using app = await App.start([{ provider: 'slow-to-leave' }])
    const disposing = gate()
    const leave = gate()
    app.ctx.subagents.registerProvider({
      name: 'slow-to-leave', inheritsParentContext: false,
      capabilities: { outputSchema: false, depthLimit: false, toolFilter: false, persona: false },
      start: async () => ({
        result: Promise.resolve({ stopReason: 'completed', output: [{ type: 'text', text: 'Found it.' }], usage: { steps: 1, toolCalls: 0, durationMs: 1 } }),
        dispose() {
          disposing.open()
          return leave.opened
        },
      }),
    })
    delegateOnce(app.endpoint, {})
    const agent = app.agent()
    const turn = agent.run(parentTask)
    await disposing.opened
    expect(app.ctx.subagents.tree()).toMatchObject([{ state: 'settling' }])
    agent.abort()
    leave.open()
    expect((await turn).stopReason).toBe('aborted')
    expect(JSON.stringify(agent.session.entries().at(-1))).toContain('Found it.')
    expectBalanced(agent.session)
    expectNothingLeft(app, agent)
  })
})

it.each(['subagent/start', 'agent/created'] as const)('disposing the parent as its child is announced by %s ends both', async event => {
  await using app = await App.start()
  delegateOnce(app.endpoint, { text: 'never' })
  const agent = app.agent()
  let disposed: Promise<void> | undefined
  app.ctx.on(event, () => { disposed ??= agent.dispose() })
  expect((await agent.run(parentTask)).stopReason).toBe('aborted')
  await disposed
  expect(app.ended.every(([, { stopReason }]) => stopReason === 'aborted')).toBe(true)
  expect(app.ctx.agents.list()).toEqual([])
  expect(app.ctx.subagents.tree()).toEqual([])
})

it('disposing the app in the middle of everything ends every agent, children first', async () => {
  await using app = await App.start()
  const tool = blockingTool(app)
  delegateOnce(app.endpoint, { calls: [{ name: 'block', arguments: {} }] })
  const depths: number[] = []
  app.ctx.on('agent/disposed', agent => { depths.push(agent.depth) })
  const turn = app.agent().run(parentTask)
  await tool.running
  await app.ctx.agents.drain()
  expect((await turn).stopReason).toBe('aborted')
  expect(depths).toEqual([1, 0])
  expect(app.ctx.agents.list()).toEqual([])
})

it('one long-lived signal carries no listener after 2,000 delegations, and no agent is left', async () => {
  await using app = await App.start(undefined, { subagents: { limits: { concurrentPerTree: 100, concurrent: 100, startsPerTree: 2000 } } })
  const { signal } = new AbortController()
  const parent = app.agent()
  app.ctx.models.register('quick', (await import('@offshoot/model/testing')).fakeModel(() => 'quick'))
  const start = () => app.ctx.subagents.start('spawn', { prompt: 'Go.', parent, signal, agentOptions: { model: 'quick' } })
  for (let batch = 0; batch < 20; batch++) {
    const runs = await Promise.all(Array.from({ length: 100 }, start))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await Promise.all(runs.map(run => run.result))
    await Promise.all(runs.map(run => run.dispose()))
  }
  expect(app.ended).toHaveLength(2000)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  expectNothingLeft(app, parent)
})
