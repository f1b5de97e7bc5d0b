import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ChildProgress, ProviderRun, SubagentResult, SubagentRun } from '../src/index.ts'
import { type App, ended, provider, startApp } from './support.ts'

beforeEach(() => { vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }) })
afterEach(() => { vi.useRealTimers() })

const used = { inputTokens: 70, outputTokens: 7, steps: 2, toolCalls: 1, durationMs: 5 }

/** A child that does not live here: what it tells of itself, and what became of it when it was cancelled. */
interface Elsewhere {
  progress: Partial<ChildProgress>
  cancelled: string | undefined
}

/** An app with a provider `there`, whose child ends `aborted` when it is cancelled. */
async function startElsewhere(parts: Partial<ProviderRun> = {}, config: Parameters<typeof startApp>[0] = {}): Promise<App & { readonly child: Elsewhere, readonly run: SubagentRun }> {
  const app = await startApp(config)
  const child: Elsewhere = { progress: {}, cancelled: undefined }
  app.ctx.subagents.registerProvider(provider('there', ({ signal }) => {
    const startedAt = Date.now()
    const result = new Promise<SubagentResult>(resolve => {
      signal.addEventListener('abort', () => {
        child.cancelled = (signal.reason as Error).message
        resolve({ ...ended('aborted'), diagnostic: 'exited with code 1' })
      })
    })
    return {
      result, dispose: async () => {},
      get progress() { return { step: 2, waitsFor: 'model', heardAt: startedAt, hasAnswered: false, usage: used, ...child.progress } satisfies ChildProgress },
      ...parts,
    }
  }))
  return { ...app, child, run: await app.start('there') }
}

async function after(ms: number, run: SubagentRun): Promise<SubagentResult | undefined> {
  let result: SubagentResult | undefined
  void run.result.then(settled => { result = settled })
  await vi.advanceTimersByTimeAsync(ms)
  return result
}

describe('a child that does not live in this process', () => {
  it('shows in the tree what its provider sees of it', async () => {
    const { ctx, child, run } = await startElsewhere()
    child.progress = { waitsFor: 'tools', tool: 'edit a file', step: 3 }
    expect(ctx.subagents.tree()).toMatchObject([{ runId: run.id, waitsFor: 'tools', currentTool: 'edit a file', step: 3, usage: used, totalUsage: used }])
    expect(run.progress).toMatchObject({ tool: 'edit a file' })
  })

  it('counts in what its parent has used, while it runs and once after it', async () => {
    const app = await startApp()
    let end!: (result: SubagentResult) => void
    app.ctx.subagents.registerProvider(provider('there', () => ({
      result: new Promise<SubagentResult>(resolve => { end = resolve }), dispose: async () => {},
      progress: { step: 2, waitsFor: 'model', heardAt: Date.now(), hasAnswered: true, usage: used },
    })))
    const run = await app.start('there')
    expect(app.ctx.subagents.usage(app.parent).total).toMatchObject({ inputTokens: 70, outputTokens: 7 })
    end({ ...ended('completed', 'done'), usage: used })
    expect((await run.result).totalUsage).toEqual(used)
    expect(app.ctx.subagents.usage(app.parent).total).toMatchObject({ inputTokens: 70, outputTokens: 7 })
  })

  it('is ended by its silence, with what its provider saw of that', async () => {
    const { run, child } = await startElsewhere({}, { deadlines: { firstTokenMs: 1000 } })
    expect(await after(999, run)).toBeUndefined()
    expect(await after(1, run)).toMatchObject({ stopReason: 'timeout', diagnostic: 'the child said nothing for 1000 ms (deadlines.firstTokenMs); exited with code 1' })
    expect(child.cancelled).toBe('the child said nothing for 1000 ms (deadlines.firstTokenMs)')
  })

  it('is ended by the shorter silence that its provider allows', async () => {
    const { run, child } = await startElsewhere({ deadlines: { idleMs: 500 } })
    child.progress = { heardAt: Date.now() + 300, hasAnswered: true }
    expect(await after(799, run)).toBeUndefined()
    expect(await after(1, run)).toMatchObject({ stopReason: 'timeout', diagnostic: expect.stringContaining('the child fell silent for 500 ms (its provider\'s idle limit)') })
  })

  it.each(['tools', 'approval', 'slot'] as const)('may be silent while it waits for %s', async waitsFor => {
    const { run, child } = await startElsewhere({ deadlines: { idleMs: 500 } })
    child.progress = { waitsFor }
    expect(await after(60_000, run)).toBeUndefined()
    child.progress = { waitsFor: 'model', heardAt: Date.now() }
    expect(await after(1000, run)).toMatchObject({ stopReason: 'timeout' })
  })

  it('has the shortest of all totals: the service\'s, the request\'s, its provider\'s', async () => {
    const { run } = await startElsewhere({ deadlines: { timeoutMs: 700 } }, { deadlines: { timeoutMs: 5000 } })
    expect(await after(699, run)).toBeUndefined()
    expect(await after(1, run)).toMatchObject({ stopReason: 'timeout', diagnostic: 'the child did not end within 700 ms (timeoutMs); exited with code 1' })
  })

  it('that is cancelled ends as aborted, also where its silence is over the limit meanwhile', async () => {
    const app = await startApp({ deadlines: { firstTokenMs: 1000 } })
    let end!: (result: SubagentResult) => void
    app.ctx.subagents.registerProvider(provider('there', () => ({
      result: new Promise<SubagentResult>(resolve => { end = resolve }), dispose: async () => {},
      progress: { step: 1, waitsFor: 'model', heardAt: 0, hasAnswered: false, usage: used },
    })))
    const controller = new AbortController()
    const run = await app.start('there', { signal: controller.signal })
    controller.abort()
    await vi.advanceTimersByTimeAsync(2000)
    end(ended('aborted'))
    expect(await run.result).toMatchObject({ stopReason: 'aborted' })
  })

  it('that tells nothing of itself is never taken for silent', async () => {
    const app = await startApp({ deadlines: { idleMs: 100, firstTokenMs: 100 } })
    app.ctx.subagents.registerProvider(provider('mute'))
    const run = await app.start('mute')
    expect(await after(60_000, run)).toBeUndefined()
    await run.dispose()
  })
})

it('tells a provider how long disposing may take', async () => {
  const app = await startApp({ disposeGraceMs: 1234 })
  let told: number | undefined
  app.ctx.subagents.registerProvider(provider('there', ({ disposeGraceMs }) => {
    told = disposeGraceMs
    return { result: Promise.resolve(ended('completed', 'done')), dispose: async () => {} }
  }))
  await using run = await app.start('there')
  await run.result
  expect(told).toBe(1234)
})

describe('a root that is itself somebody\'s child', () => {
  it('counts its depth on, and keeps to the limit that it was given', async () => {
    const app = await startApp({ maxDepth: 9 })
    const root = app.ctx.agents.create({ lineage: { depth: 2, maxDepth: 3 } })
    expect([root.depth, root.session.header.depth, root.maxDepth]).toEqual([2, 2, 3])
    let told: object = {}
    app.ctx.subagents.registerProvider(provider('there', ({ depth, maxDepth }) => {
      told = { depth, maxDepth }
      return { result: Promise.resolve(ended('completed', 'done')), dispose: async () => {} }
    }))
    await using run = await app.start('there', { parent: root })
    await run.result
    expect(told).toEqual({ depth: 3, maxDepth: 3 })
    const child = app.ctx.agents.create({ parent: root })
    expect(child.maxDepth).toBe(3)
    await expect(app.start('there', { parent: child })).rejects.toMatchObject({ code: 'DEPTH_LIMIT', message: expect.stringContaining('depth 4, and the limit is 3') })
  })
})
