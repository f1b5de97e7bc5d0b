import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type SubagentService from '../src/index.ts'
import type { SubagentResult } from '../src/index.ts'
import type { Gate } from '../../../tests/gate.ts'
import { Random } from '../../../tests/random.ts'
import { pluginFor, SmallProvider } from './small-provider.ts'
import { type App, ended, gate, idleRun, never, provider, startApp, turnOfTheLoop } from './support.ts'

/** An app whose provider `one` makes children that end when the test lets them. */
async function gatedApp(limits: NonNullable<SubagentService.Input['limits']>): Promise<App & { readonly made: string[], readonly end: Gate<SubagentResult>[], task(label: string): ReturnType<App['start']> }> {
  const app = await startApp({ limits })
  const made: string[] = []
  const end: Gate<SubagentResult>[] = []
  app.ctx.subagents.registerProvider(provider('one', ({ label }) => {
    made.push(label!)
    const result = gate<SubagentResult>()
    end.push(result)
    return idleRun({ result: result.opened })
  }))
  return { ...app, made, end, task: label => app.start('one', { label }) }
}

const states = ({ ctx }: App): string[] => ctx.subagents.tree().map(({ state }) => state)

describe('children that may not all work at once', () => {
  it('wait their turn, first come first served, and can be seen waiting', async () => {
    const app = await gatedApp({ concurrentPerTree: 2 })
    const starts = ['a', 'b', 'c', 'd'].map(app.task)
    await turnOfTheLoop()
    expect(app.made).toEqual(['a', 'b'])
    expect(app.ctx.subagents.tree()).toMatchObject(['running', 'running', 'queued', 'queued'].map((state, i) => ({ state, label: 'abcd'[i], runId: `run-${i + 1}` })))
    expect(app.events).toEqual(['added one', 'start run-1', 'start run-2'])
    app.end[1]!.open(ended('completed', 'b'))
    expect((await starts[2]!).id).toBe('run-3')
    expect(app.made).toEqual(['a', 'b', 'c'])
    app.end[0]!.open(ended('completed', 'a'))
    await starts[3]
    expect(states(app)).toEqual(['running', 'running'])
  })

  it('are counted for each tree, and for the app as a whole', async () => {
    const app = await gatedApp({ concurrentPerTree: 2, concurrent: 3 })
    const other = app.ctx.agents.create()
    const starts = [app.task('a'), app.task('b'), app.start('one', { label: 'c', parent: other }), app.start('one', { label: 'd', parent: other }), app.task('e')]
    await turnOfTheLoop()
    expect(app.made).toEqual(['a', 'b', 'c'])
    // The other tree has room, its own tree has not: e waits behind d, and d for the app.
    app.end[2]!.open(ended('completed', 'c'))
    await starts[3]
    expect(app.made).toEqual(['a', 'b', 'c', 'd'])
    app.end[0]!.open(ended('completed', 'a'))
    await starts[4]
    expect(app.made.at(-1)).toBe('e')
  })

  it('free their slots when they end, not when they are disposed', async () => {
    const app = await startApp({ limits: { concurrentPerTree: 1 } })
    app.ctx.subagents.registerProvider(provider('one', () => idleRun({ result: Promise.resolve(ended('completed', 'x')), dispose: () => never })))
    for (let i = 0; i < 3; i++) await (await app.start('one')).result
    expect(app.events.filter(event => event.startsWith('end'))).toHaveLength(3)
  })

  it('leave the queue when they are cancelled: nothing was made, nobody is told, and the next one moves up', async () => {
    const app = await gatedApp({ concurrentPerTree: 1 })
    await app.task('a')
    const cancel = new AbortController()
    const cancelled = app.start('one', { label: 'b', signal: cancel.signal })
    const next = app.task('c')
    await turnOfTheLoop()
    cancel.abort(new Error('never mind'))
    await expect(cancelled).rejects.toMatchObject({ code: 'ABORTED', message: expect.stringContaining('never mind') })
    expect(states(app)).toEqual(['running', 'queued'])
    app.end[0]!.open(ended('completed', 'a'))
    await next
    expect(app.made).toEqual(['a', 'c'])
    expect(app.events.filter(event => event.startsWith('start'))).toHaveLength(2)
  })

  it('leave the queue when their provider goes', async () => {
    const { ctx, start } = await startApp({ limits: { concurrentPerTree: 1 } })
    ctx.subagents.registerProvider(provider('one'))
    const remove = ctx.subagents.registerProvider(provider('two'))
    await start('one')
    const waiting = start('two')
    await turnOfTheLoop()
    await Promise.all([expect(waiting).rejects.toMatchObject({ code: 'ABORTED' }), remove()])
    expect(ctx.subagents.tree()).toHaveLength(1)
  })
})

describe('the time in the queue', () => {
  beforeEach(() => { vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }) })
  afterEach(() => { vi.useRealTimers() })

  it('is bounded: the refusal says the figures and who holds the slots', async () => {
    const app = await gatedApp({ concurrentPerTree: 2, queueTimeoutMs: 500 })
    await Promise.all([app.task('count files'), app.task('read logs')])
    const refused = app.task('late').catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(500)
    expect(await refused).toMatchObject({
      code: 'QUEUE_TIMEOUT',
      message: 'no slot came free within 500 ms (limits.queueTimeoutMs): 2 children of this tree work and 2 may (limits.concurrentPerTree); at work: run-1 (count files), run-2 (read logs); wait for one of them to end, or do the task yourself',
    })
    expect(app.ctx.subagents.tree()).toHaveLength(2)
    app.end[0]!.open(ended('completed', 'x'))
    expect((await app.task('next')).id).toBe('run-4')
  })

  it('is ten minutes by default', async () => {
    const app = await gatedApp({ concurrentPerTree: 1 })
    await app.task('a')
    let outcome: unknown
    app.task('b').catch((error: unknown) => { outcome = error })
    await vi.advanceTimersByTimeAsync(599_999)
    expect(outcome).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    expect(outcome).toMatchObject({ code: 'QUEUE_TIMEOUT' })
  })
})

describe('the starts of a tree in its life', () => {
  it('are counted, at every depth, and refused beyond the cap, in words that say what to do', async () => {
    const { ctx, start, events } = await startApp({ limits: { startsPerTree: 3 } })
    ctx.subagents.registerProvider(provider('one', ({ parent }) => idleRun({ agent: ctx.agents.create({ parent }) })))
    const child = await start('one', { label: 'first' })
    await start('one', { parent: child.agent! })
    await (await start('one')).dispose()
    await expect(start('one')).rejects.toMatchObject({
      code: 'START_LIMIT',
      message: 'this tree of agents has started 3 children and may start 3 (limits.startsPerTree); at work: run-1 (first), run-2 (one); do the rest of the task yourself',
    })
    expect(events.filter(event => event.startsWith('start'))).toHaveLength(3)
    // Another tree has a count of its own.
    await start('one', { parent: ctx.agents.create() })
  })

  it('do not count a start that came to nothing', async () => {
    const { ctx, start } = await startApp({ limits: { startsPerTree: 1, concurrentPerTree: 1 } })
    let fails = true
    ctx.subagents.registerProvider(provider('one', () => { if (fails) throw new Error('no'); return idleRun() }))
    for (let i = 0; i < 3; i++) await expect(start('one')).rejects.toMatchObject({ code: 'START_FAILED' })
    fails = false
    await start('one')
    await expect(start('one')).rejects.toMatchObject({ code: 'START_LIMIT' })
  })
})

describe('the tokens of a tree', () => {
  it('are the root\'s and its children\'s; beyond the cap no child starts, and one at work writes down what it has', async () => {
    const usage = { input: 40, output: 10 }
    const { ctx, parent, start } = await startApp({ limits: { tokensPerTree: 120 } }, (_request, index) => index < 3 ? { calls: [{ name: 'nothing' }], usage } : { text: 'Half.', usage })
    await ctx.plugin(pluginFor(agents => new SmallProvider(agents)))
    const run = await start('small')
    expect(await run.result).toMatchObject({
      stopReason: 'budget', output: [{ text: 'Half.' }], diagnostic: 'this tree of agents has used 150 tokens and may use 120 (limits.tokensPerTree)',
    })
    await run.dispose()
    await expect(start('small')).rejects.toMatchObject({ code: 'TOKEN_LIMIT', message: 'this tree of agents has used 200 tokens and may use 120 (limits.tokensPerTree); none of this tree works now; finish with what you have' })
    expect(ctx.subagents.usage(parent).total).toMatchObject({ inputTokens: 160, outputTokens: 40, steps: 4 })
    await (await start('small', { parent: ctx.agents.create() })).dispose()
  })
})

describe('a child that waits for nothing but children of its own', () => {
  /** Agents of three levels, each of which delegates before it answers; `pause` comes before every reply and result. */
  async function delegatingApp(concurrentPerTree: number, pause: () => Promise<void>, calls: (depth: number) => number): Promise<App & { readonly most: () => number }> {
    let busy = 0
    let most = 0
    const app: App = await startApp({ limits: { concurrentPerTree, startsPerTree: 10_000 } }, async request => {
      const depth = Number(/depth (\d)/.exec(JSON.stringify(request.prompt[1]))?.[1] ?? 0)
      busy += depth > 0 ? 1 : 0
      most = Math.max(most, busy)
      await pause()
      busy -= depth > 0 ? 1 : 0
      const n = request.prompt.length > 2 ? 0 : calls(depth)
      return n === 0 ? `answer of ${depth}` : { calls: Array.from({ length: n }, () => ({ name: 'delegate' })) }
    })
    await app.ctx.plugin(pluginFor(agents => new SmallProvider(agents)))
    app.ctx.tools.register(defineTool({
      name: 'delegate', description: 'Delegates.', parameters: Type.Object({}), concurrency: 'parallel',
      async execute(_args, { agent, callId, signal }) {
        await using run = await app.ctx.subagents.start('small', { prompt: `depth ${agent!.depth + 1}`, parent: agent!, signal: signal!, tool: { name: 'delegate', callId } })
        const { stopReason } = await run.result
        await pause()
        return stopReason
      },
    }))
    return { ...app, most: () => most }
  }

  it('gives its slot back, so that a chain deeper than the cap comes to its end', async () => {
    const { parent, most, ctx } = await delegatingApp(1, () => Promise.resolve(), depth => depth < 3 ? 1 : 0)
    expect(await parent.run('Go.')).toMatchObject({ stopReason: 'completed', output: [{ text: 'answer of 0' }] })
    expect(most()).toBe(1)
    expect(ctx.subagents.tree()).toEqual([])
  })

  it('never locks a tree: depth 3, two at a time, everybody delegating (1,000 seeded schedules)', async () => {
    let random = new Random(0)
    const app = await delegatingApp(2, async () => { for (let i = random.below(4); i > 0; i--) await (random.below(3) === 0 ? turnOfTheLoop() : Promise.resolve()) }, depth => depth < 3 ? 1 + random.below(2) : 0)
    for (let seed = 1; seed <= 1000; seed++) {
      random = new Random(seed)
      app.events.length = 0
      const root = app.ctx.agents.create()
      const result = await root.run('Go.')
      if (result.stopReason !== 'completed' || app.most() > 2 || app.ctx.subagents.tree().length > 0) throw new Error(`seed ${seed}: ${result.stopReason}, ${app.most()} at once`)
      expect(app.events.filter(event => event.startsWith('end'))).toHaveLength(app.events.length / 2)
      await root.dispose()
    }
  }, 60_000)
})
