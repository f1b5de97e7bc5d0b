import { describe, expect, it, vi } from 'vitest'
import type { TaskOutcome, TaskSpec } from '../src/index.ts'
import { fakeTimers, gate, never, notice, noticesIn, rest, start, startJob } from './support.ts'

describe('killing a task', () => {
  it('before its work has begun is enough: the work never begins', async () => {
    const { ctx } = await start()
    ctx.on('task/started', ({ id }) => { void ctx.tasks.kill(id, 'changed my mind') })
    const run = vi.fn<TaskSpec['run']>(() => never)
    const { task } = startJob(ctx, ctx.agents.create(), { run })
    expect(task).toMatchObject({ status: 'killed', reason: 'changed my mind' })
    expect(run).not.toHaveBeenCalled()
  })

  it('as its work begins reaches the work by its signal', async () => {
    const { ctx } = await start()
    const { task } = startJob(ctx, ctx.agents.create(), {
      run: async (signal, own) => {
        void ctx.tasks.kill(own.id, 'changed my mind')
        return signal.aborted ? { status: 'killed' } : { status: 'completed', output: 'too late' }
      },
    })
    expect(await ctx.tasks.wait(task.id)).toMatchObject({ status: 'killed' })
  })

  it('while it runs aborts its signal with the reason, and waits until it has stopped', async () => {
    const { ctx } = await start()
    const stopped = gate()
    let seen: unknown
    const { task } = startJob(ctx, ctx.agents.create(), {
      run: signal => new Promise(resolve => {
        signal.addEventListener('abort', () => {
          seen = signal.reason
          void stopped.opened.then(() => { resolve({ status: 'killed' }) })
        })
      }),
    })
    let settled = false
    const killed = ctx.tasks.kill(task.id, 'no longer needed').then(each => { settled = true; return each })
    await rest()
    expect(seen).toEqual(new Error('no longer needed'))
    expect([task.status, task.reason, task.outcome, settled]).toEqual(['stopping', 'no longer needed', undefined, false])
    stopped.open()
    expect(await killed).toMatchObject({ status: 'killed', outcome: { status: 'killed' } })
  })

  it('again while it stops changes nothing: the first reason stands, and both are answered', async () => {
    const { ctx } = await start()
    const { task } = startJob(ctx, ctx.agents.create())
    const both = Promise.all([ctx.tasks.kill(task.id, 'first'), ctx.tasks.kill(task.id, 'second')])
    expect(await both).toEqual([task, task])
    expect(task).toMatchObject({ status: 'killed', reason: 'first' })
  })

  it.each<TaskOutcome>([{ status: 'completed', output: 'done' }, { status: 'failed', error: 'no luck' }])('that had already $status is no error, and changes nothing', async outcome => {
    const { ctx } = await start()
    const { task, settle } = startJob(ctx, ctx.agents.create())
    settle(outcome)
    await ctx.tasks.wait(task.id)
    expect(await ctx.tasks.kill(task.id, 'too late')).toBe(task)
    expect(task).toMatchObject({ status: outcome.status, outcome })
    expect(task.reason).toBeUndefined()
  })

  it('that completes all the same is completed: the work had its result by then', async () => {
    const { ctx } = await start()
    const owner = ctx.agents.create()
    const { task } = startJob(ctx, owner, {
      run: signal => new Promise(resolve => { signal.addEventListener('abort', () => { resolve({ status: 'completed', output: 'just done' }) }) }),
    })
    expect(await ctx.tasks.kill(task.id, 'enough')).toMatchObject({ status: 'completed', outcome: { output: 'just done' } })
    await rest()
    expect(noticesIn(owner.session)).toEqual([notice('job-1', 'just done')])
  })
})

describe('work that ignores its signal', () => {
  it('fails its task after stopGraceMs, and its own end does not matter any more: the first settlement wins', async () => {
    fakeTimers()
    const { ctx } = await start(() => 'ok', { tasks: { stopGraceMs: 2000 } })
    const owner = ctx.agents.create()
    let end!: (outcome: TaskOutcome) => void
    const { task } = startJob(ctx, owner, { run: () => new Promise(resolve => { end = resolve }) })
    const settlements: string[] = []
    ctx.on('task/settled', ({ status }) => { settlements.push(status) })
    const killed = ctx.tasks.kill(task.id, 'enough')
    vi.advanceTimersByTime(1999)
    expect(task.status).toBe('stopping')
    vi.advanceTimersByTime(1)
    expect(await killed).toMatchObject({ status: 'failed', outcome: { status: 'failed', error: 'it did not stop within 2000 ms' } })
    end({ status: 'completed', output: 'after all' })
    await rest()
    expect([task.status, settlements]).toEqual(['failed', ['failed']])
    expect(noticesIn(owner.session)).toEqual([notice('job-1', 'it did not stop within 2000 ms', 'failed')])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('may reject late, too, unheard', async () => {
    fakeTimers()
    const { ctx } = await start()
    let fail!: (error: Error) => void
    const { task } = startJob(ctx, ctx.agents.create(), { run: () => new Promise((_resolve, reject) => { fail = reject }) })
    const killed = ctx.tasks.kill(task.id, 'enough')
    vi.advanceTimersByTime(15_000)
    await killed
    fail(new Error('at last'))
    await rest()
    expect(task.outcome).toEqual({ status: 'failed', error: 'it did not stop within 15000 ms' })
  })

  it('that stops within the grace leaves no timer', async () => {
    fakeTimers()
    const { ctx } = await start()
    const { task } = startJob(ctx, ctx.agents.create())
    await ctx.tasks.kill(task.id, 'enough')
    expect(vi.getTimerCount()).toBe(0)
  })
})
