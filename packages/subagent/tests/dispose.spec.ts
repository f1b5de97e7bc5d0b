import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SubagentResult } from '../src/index.ts'
import { ended, gate, idleRun, never, provider, settled, startApp } from './support.ts'

const completed = ended('completed', 'The answer.')

describe('dispose()', () => {
  it('is the provider\'s, once however often it is called, and waits for it', async () => {
    const { ctx, start } = await startApp()
    const quiet = gate()
    const dispose = vi.fn(() => quiet.opened)
    ctx.subagents.registerProvider(provider('one', () => idleRun({ dispose })))
    const run = await start('one')
    const order: string[] = []
    const disposing = Promise.all([run.dispose().then(() => { order.push('first') }), run.dispose().then(() => { order.push('second') })])
    expect(dispose).toHaveBeenCalledOnce()
    expect(order).toEqual([])
    quiet.open()
    await disposing
    await run.dispose()
    expect(dispose).toHaveBeenCalledOnce()
  })

  it('is what `await using` does', async () => {
    const { ctx, start } = await startApp()
    const dispose = vi.fn(async () => {})
    ctx.subagents.registerProvider(provider('one', () => idleRun({ dispose })))
    {
      await using run = await start('one')
      expect(run.id).toBe('run-1')
    }
    expect(dispose).toHaveBeenCalledOnce()
  })

  it('of a child that has ended changes nothing of its outcome, and tells nobody again', async () => {
    const { ctx, events, start } = await startApp()
    ctx.subagents.registerProvider(provider('one', () => idleRun({ result: Promise.resolve(completed) })))
    const run = await start('one')
    await run.result
    await run.dispose()
    expect(await run.result).toEqual(settled(completed))
    expect(events).toEqual(['added one', 'start run-1', 'end run-1 completed'])
  })

  it('settles what the provider says on its way out', async () => {
    const { ctx, events, start } = await startApp()
    const result = gate<SubagentResult>()
    ctx.subagents.registerProvider(provider('one', () => idleRun({
      result: result.opened,
      dispose: async () => { setImmediate(() => { result.open(ended('aborted', 'Half')) }) },
    })))
    const run = await start('one')
    await run.dispose()
    expect(await run.result).toEqual(settled(ended('aborted', 'Half')))
    expect(events.at(-1)).toBe('end run-1 aborted')
  })

  it('settles aborted what never says how it ended', async () => {
    const { ctx, events, start } = await startApp()
    ctx.subagents.registerProvider(provider('one'))
    const run = await start('one')
    await run.dispose()
    expect(await run.result).toEqual(settled({ stopReason: 'aborted', output: [], diagnostic: 'the run was disposed, and its provider did not say how it ended', usage: { steps: 0, toolCalls: 0, durationMs: expect.any(Number) } }))
    expect(events).toEqual(['added one', 'start run-1', 'end run-1 aborted'])
    expect(ctx.subagents.tree()).toEqual([])
  })

  it.each<[string, () => Promise<void>]>([
    ['rejects', () => Promise.reject(new Error('stuck'))],
    ['throws', () => { throw new Error('stuck') }],
  ])('that %s rejects with DISPOSE_FAILED and is logged; the outcome stays what it was', async (_how, dispose) => {
    const { ctx, start, logged } = await startApp()
    ctx.subagents.registerProvider(provider('one', () => idleRun({ dispose, result: Promise.resolve(completed) })))
    const run = await start('one')
    const error = await run.dispose().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'SubagentError', code: 'DISPOSE_FAILED', message: 'disposing run-1 of subagent provider "one" failed: stuck', cause: new Error('stuck') })
    expect(await run.result).toEqual(settled(completed))
    expect(logged).toContain(error)
    await expect(run.dispose()).rejects.toBe(error)
    expect(ctx.subagents.tree()).toEqual([])
  })

  it('that fails brings nothing down where nobody looks', async () => {
    const { ctx, start, logged } = await startApp()
    ctx.subagents.registerProvider(provider('one', () => idleRun({ dispose: () => Promise.reject(new Error('stuck')) })))
    const run = await start('one')
    void run.dispose()
    expect((await run.result).stopReason).toBe('aborted')
    expect(logged).toContainEqual(expect.objectContaining({ code: 'DISPOSE_FAILED' }))
  })
})

describe('the time a disposal may take', () => {
  beforeEach(() => { vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }) })
  afterEach(() => { vi.useRealTimers() })

  it('is disposeGraceMs: one that hangs rejects with DISPOSE_FAILED then, and settles aborted', async () => {
    const { ctx, start, logged } = await startApp({ disposeGraceMs: 2500 })
    ctx.subagents.registerProvider(provider('one', () => idleRun({ dispose: () => never })))
    const run = await start('one')
    const failed = vi.fn()
    void run.dispose().catch(failed)
    await vi.advanceTimersByTimeAsync(2499)
    expect(failed).not.toHaveBeenCalled()
    expect(ctx.subagents.tree()).toMatchObject([{ runId: 'run-1', state: 'settling' }])
    await vi.advanceTimersByTimeAsync(1)
    expect((await run.result).stopReason).toBe('aborted')
    await run.dispose().catch(() => {})
    expect(failed).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'DISPOSE_FAILED', message: 'disposing run-1 of subagent provider "one" failed: not quiet after 2500 ms' }))
    expect(logged).toContain(failed.mock.calls[0]![0])
    expect(vi.getTimerCount()).toBe(0)
    expect(ctx.subagents.tree()).toEqual([])
  })

  it('is ten seconds by default', async () => {
    const { ctx, start } = await startApp()
    ctx.subagents.registerProvider(provider('one', () => idleRun({ dispose: () => never, result: Promise.resolve(completed) })))
    const run = await start('one')
    const gone = vi.fn()
    void run.dispose().catch(gone)
    await vi.advanceTimersByTimeAsync(9999)
    expect(gone).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(gone).toHaveBeenCalledOnce()
    expect(await run.result).toEqual(settled(completed))
  })

  it('arms a timer that is cleared when the child goes in time', async () => {
    const { ctx, start } = await startApp()
    const quiet = gate()
    ctx.subagents.registerProvider(provider('one', () => idleRun({ dispose: () => quiet.opened, result: Promise.resolve(completed) })))
    const disposing = (await start('one')).dispose()
    await vi.advanceTimersByTimeAsync(0)
    expect(vi.getTimerCount()).toBe(1)
    quiet.open()
    await disposing
    expect(vi.getTimerCount()).toBe(0)
  })

  it('does not bring the process down when a late disposal fails after all', async () => {
    const { ctx, start } = await startApp({ disposeGraceMs: 10 })
    const quiet = gate<never>()
    ctx.subagents.registerProvider(provider('one', () => idleRun({ dispose: () => quiet.opened })))
    const disposing = (await start('one')).dispose()
    await vi.advanceTimersByTimeAsync(10)
    await expect(disposing).rejects.toMatchObject({ code: 'DISPOSE_FAILED' })
    quiet.fail(new Error('much later'))
    await new Promise(resolve => { setImmediate(resolve) })
  })
})

it('disposing a child that is gone at once arms no timer', async () => {
  const { ctx, start } = await startApp()
  const armed = vi.spyOn(globalThis, 'setTimeout')
  ctx.subagents.registerProvider(provider('one', () => idleRun({ result: Promise.resolve(completed) })))
  await (await start('one')).dispose()
  expect(armed).not.toHaveBeenCalled()
})
