import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Agent, TurnResult } from '../src/index.ts'
import { gate, never, Note, record, rest, start, transcript } from './support.ts'

/** Whether a promise has settled by the time at which nothing goes on by itself any more. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  void promise.finally(() => { settled = true }).catch(() => {})
  await rest()
  return settled
}

describe('hold()', () => {
  it('keeps the agent from being quiet until it is let go, each time it was called; letting go twice counts once', async () => {
    const { ctx } = await start()
    const agent = ctx.agents.create()
    const [one, two] = [agent.hold(), agent.hold()]
    const quiet = agent.untilQuiet()
    one()
    one()
    expect(await isSettled(quiet)).toBe(false)
    expect(agent.isBusy).toBe(true)
    two()
    expect(await quiet).toBeUndefined()
    expect(agent.isBusy).toBe(false)
  })

  it('is waited for by the agent\'s disposal, which asks what holds it to end', async () => {
    const { ctx } = await start()
    const cancelled: [Agent, unknown][] = []
    ctx.on('agent/cancelled', (...args) => { cancelled.push(args) })
    const agent = ctx.agents.create()
    const release = agent.hold()
    const gone = agent.dispose()
    expect(cancelled).toEqual([[agent, new Error('the agent was disposed')]])
    expect(await isSettled(gone)).toBe(false)
    expect(ctx.agents.list()).toEqual([agent])
    release()
    await gone
    expect(ctx.agents.list()).toEqual([])
  })

  it('costs nothing to an agent that is disposed and was not held: nothing is asked to end', async () => {
    const { ctx } = await start()
    let cancelled = 0
    ctx.on('agent/cancelled', () => { cancelled++ })
    const agent = ctx.agents.create()
    agent.hold()()
    await agent.dispose()
    expect(cancelled).toBe(0)
  })
})

describe('runToQuiet()', () => {
  it('is run() where nothing goes on in the background', async () => {
    const { ctx } = await start(['done'])
    expect(await ctx.agents.create().runToQuiet('Go.')).toMatchObject({ stopReason: 'completed', output: [{ text: 'done' }], steps: 1 })
  })

  it('settles after the background work, and after the turn that reads of it, with the last answer and what all turns cost', async () => {
    const { ctx } = await start([{ text: 'begun', usage: { input: 1, output: 2 } }, { text: 'read it', usage: { input: 10, output: 20 } }])
    const agent = ctx.agents.create()
    const release = agent.hold()
    const run = agent.runToQuiet('Go.')
    expect(await isSettled(run)).toBe(false)
    expect(transcript(agent.session).at(-1)).toBe('assistant: begun')
    agent.inject(new Note('It is done.'))
    release()
    expect(await run).toMatchObject({ stopReason: 'completed', output: [{ text: 'read it' }], steps: 2, usage: { steps: 2, inputTokens: 11, outputTokens: 22 } })
    expect(transcript(agent.session)).toEqual(['user: Go.', 'assistant: begun', 'user: It is done.', 'assistant: read it'])
  })

  it('does not settle before the turn that reads of it, however the moment falls', async () => {
    for (let hops = 0; hops < 40; hops++) {
      const { ctx } = await start(() => 'ok')
      const agent = ctx.agents.create()
      const release = agent.hold()
      agent.on(event => {
        if (event.type !== 'step-start' || agent.session.length > 1) return
        void (async () => {
          for (let hop = 0; hop < hops; hop++) await Promise.resolve()
          agent.inject(new Note('It is done.'))
          release()
        })()
      })
      expect((await agent.runToQuiet('Go.')).steps).toBe(2)
      expect([agent.state, agent.isBusy]).toEqual(['idle', false])
    }
  })

  it('tells what came together in one turn', async () => {
    const { ctx, model } = await start(() => 'ok')
    const agent = ctx.agents.create()
    const release = agent.hold()
    const run = agent.runToQuiet('Go.')
    await rest()
    agent.inject(new Note('One.'))
    for (let hop = 0; hop < 20; hop++) await Promise.resolve()
    agent.inject(new Note('Two.'))
    release()
    await run
    expect(model.requests).toHaveLength(2)
    expect(transcript(agent.session)).toContain('user: One.\nTwo.')
  })

  it('has no bound on the turns that notices bring, and what was told so does not count against the bound afterwards', async () => {
    const { ctx, model } = await start(() => 'ok', { maxWakes: 1 })
    const agent = ctx.agents.create()
    const release = agent.hold()
    const run = agent.runToQuiet('Go.')
    for (let n = 0; n < 20; n++) {
      await rest()
      agent.inject(new Note(`News ${n}.`))
    }
    release()
    expect((await run).steps).toBe(21)
    agent.inject(new Note('More.'))
    await rest()
    expect(model.requests).toHaveLength(22)
  })

  it('ends with a turn that is not completed; what still runs is the caller\'s to end', async () => {
    const { ctx } = await start(['begun', { error: new Error('broken') }])
    const agent = ctx.agents.create()
    const release = agent.hold()
    const run = agent.runToQuiet('Go.')
    await rest()
    agent.inject(new Note('It is half done.'))
    expect(await run).toMatchObject({ stopReason: 'error', steps: 2 })
    expect(agent.isBusy).toBe(true)
    release()
  })

  const aborts: [string, (agent: Agent, controller: AbortController) => void][] = [
    ['its signal', (_agent, controller) => { controller.abort(new Error('enough')) }],
    ['abort()', agent => { agent.abort(new Error('enough')) }],
    ['the first abort() of two', agent => {
      agent.abort(new Error('enough'))
      agent.abort(new Error('once more'))
    }],
    ['abort() of the tree', agent => { agent.abort(new Error('enough'), { scope: 'tree' }) }],
    ['dispose()', agent => { void agent.dispose() }],
  ]
  it.each(aborts)('ends as aborted by %s while nothing but background work runs', async (_what, abort) => {
    const { ctx, model } = await start(['begun'])
    const agent = ctx.agents.create()
    const release = agent.hold()
    const controller = new AbortController()
    const run = agent.runToQuiet('Go.', { signal: controller.signal })
    await rest()
    abort(agent, controller)
    expect(await run).toMatchObject({ stopReason: 'aborted', diagnostic: expect.stringMatching(/^(enough|the agent was disposed)$/), output: [{ text: 'begun' }], steps: 1 })
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    release()
    await rest()
    expect(model.requests).toHaveLength(1)
  })

  it('stays completed where an abort comes after everything was done', async () => {
    const { ctx } = await start(['done'])
    const agent = ctx.agents.create()
    agent.hold()()
    const controller = new AbortController()
    agent.on(event => { if (event.type === 'turn-end') controller.abort() })
    expect((await agent.runToQuiet('Go.', { signal: controller.signal })).stopReason).toBe('completed')
  })

  it('is aborted, not completed, where the abort comes between the last answer and a notice that waits', async () => {
    const { ctx, model } = await start(() => 'ok')
    const agent = ctx.agents.create()
    agent.on(event => {
      if (event.type !== 'turn-end') return
      agent.inject(new Note('It is done.'))
      agent.abort(new Error('enough'))
    })
    expect(await agent.runToQuiet('Go.')).toMatchObject({ stopReason: 'aborted', diagnostic: 'enough' })
    await rest()
    expect(model.requests).toHaveLength(1)
  })
})

describe('untilQuiet()', () => {
  it('of an agent that does nothing settles with nothing', async () => {
    const { ctx } = await start()
    expect(await ctx.agents.create().untilQuiet()).toBeUndefined()
  })

  it('waits for the turn under way, and answers how it ended', async () => {
    const release = gate()
    const { ctx } = await start(() => ({ hold: release.opened, text: 'done' }))
    const agent = ctx.agents.create()
    const run = agent.run('Go.')
    const quiet = agent.untilQuiet()
    release.open()
    expect(await quiet).toEqual(await run)
  })

  it('waits for a turn that is only just beginning', async () => {
    const { ctx } = await start(['done'])
    const agent = ctx.agents.create()
    const answers: Promise<TurnResult | undefined>[] = []
    agent.on(event => { if (event.type === 'turn-start') answers.push(agent.untilQuiet()) })
    agent.inject(new Note('It rains.'))
    await rest()
    expect(await answers[0]).toMatchObject({ stopReason: 'completed', output: [{ text: 'done' }] })
  })

  it('tells what waits, past the bound on wakes', async () => {
    const { ctx } = await start(() => 'ok', { maxWakes: 0 })
    const agent = ctx.agents.create()
    agent.inject(new Note('It rains.'))
    await rest()
    expect(transcript(agent.session)).toEqual([])
    expect(await agent.untilQuiet()).toMatchObject({ stopReason: 'completed' })
    expect(transcript(agent.session)).toEqual(['user: It rains.', 'assistant: ok'])
  })

  it('may be asked for by many: each turn begins once, and all are answered', async () => {
    const { ctx, model } = await start(() => 'ok')
    const agent = ctx.agents.create()
    const release = agent.hold()
    const all = Array.from({ length: 5 }, () => agent.untilQuiet())
    await rest()
    agent.inject(new Note('It is done.'))
    release()
    expect((await Promise.all(all)).map(result => result?.steps)).toEqual([1, 1, 1, 1, 1])
    expect(model.requests).toHaveLength(1)
  })

  it('ends with its signal, and leaves the agent to itself', async () => {
    const { ctx } = await start(['ok'])
    const agent = ctx.agents.create()
    const release = agent.hold()
    const controller = new AbortController()
    const quiet = agent.untilQuiet({ signal: controller.signal })
    await rest()
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
    controller.abort()
    expect(await quiet).toBeUndefined()
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    agent.inject(new Note('It is done.'))
    release()
    await rest()
    expect(transcript(agent.session)).toEqual(['user: It is done.', 'assistant: ok'])
  })

  it('of an agent that was aborted waits for what runs, and tells nothing: an aborted agent with unread notices is quiet', async () => {
    const { ctx, model } = await start(() => ({ hold: never }))
    const agent = ctx.agents.create()
    const release = agent.hold()
    const run = agent.run('Go.')
    agent.abort()
    await run
    const quiet = agent.untilQuiet()
    agent.inject(new Note('It is done.'))
    expect(await isSettled(quiet)).toBe(false)
    release()
    expect(await quiet).toBeUndefined()
    expect(agent.isBusy).toBe(false)
    expect(model.requests).toHaveLength(1)
  })

  it('ends with its signal as soon as the turn under way has ended, which it aborts if a notice began it', async () => {
    const asked = gate()
    const { ctx } = await start(() => { asked.open(); return { hold: never } })
    const agent = ctx.agents.create()
    const controller = new AbortController()
    agent.inject(new Note('It is done.'))
    const quiet = agent.untilQuiet({ signal: controller.signal })
    await asked.opened
    controller.abort(new Error('enough'))
    expect(await quiet).toMatchObject({ stopReason: 'aborted', diagnostic: 'enough' })
  })

  it('hears of a turn that somebody else began meanwhile', async () => {
    const { ctx } = await start(['one'])
    const agent = ctx.agents.create()
    const events = record(agent)
    const release = agent.hold()
    const quiet = agent.untilQuiet()
    await rest()
    await agent.run('Go.')
    release()
    expect(await quiet).toMatchObject({ output: [{ text: 'one' }] })
    expect(events.filter(({ type }) => type === 'turn-start')).toHaveLength(1)
  })
})
