import { describe, expect, it, vi } from 'vitest'
import { type Task, TaskError, type TaskSpec } from '../src/index.ts'
import { fakeTimers, never, start, startJob } from './support.ts'

describe('ctx.tasks.start()', () => {
  it('begins the work before it returns, once the task can be found', async () => {
    const { ctx } = await start()
    const owner = ctx.agents.create()
    const seen: unknown[] = []
    ctx.on('task/started', task => { seen.push(['started', task.id]) })
    const task = ctx.tasks.start({
      kind: 'lookup', label: 'look it up', owner,
      run: async (signal, own) => {
        seen.push(['run', ctx.tasks.get('lookup-1') === own, signal.aborted])
        return { status: 'completed', output: 'found' }
      },
    })
    expect(seen).toEqual([['started', 'lookup-1'], ['run', true, false]])
    expect(task).toMatchObject({ id: 'lookup-1', kind: 'lookup', label: 'look it up', owner, status: 'running', delivery: 'undelivered', startedAt: expect.any(Number) })
    await ctx.tasks.wait(task.id)
    expect(task).toMatchObject({ status: 'completed', outcome: { status: 'completed', output: 'found' }, settledAt: expect.any(Number) })
  })

  it('numbers tasks per kind and app, from 1', async () => {
    const { ctx } = await start()
    const [one, two] = [ctx.agents.create(), ctx.agents.create()]
    expect([startJob(ctx, one), startJob(ctx, two, { kind: 'other' }), startJob(ctx, two)].map(({ task }) => task.id)).toEqual(['job-1', 'other-1', 'job-2'])
  })

  it.each(['', 'Job', '1st', 'a job', 'a_b', 'x'.repeat(33)])('refuses the kind "%s", and runs nothing', async kind => {
    const { ctx } = await start()
    const run = vi.fn<TaskSpec['run']>(() => never)
    const owner = ctx.agents.create()
    expect(() => ctx.tasks.start({ kind, label: 'a job', owner, run })).toThrow(expect.objectContaining({ code: 'INVALID_TASK', message: `task kind "${kind}" must be 1 to 32 lower-case letters, digits or "-"` }))
    expect([run.mock.calls, ctx.tasks.list(), owner.isBusy]).toEqual([[], [], false])
  })

  it('refuses an owner that is disposed', async () => {
    const { ctx } = await start()
    const owner = ctx.agents.create()
    await owner.dispose()
    expect(() => startJob(ctx, owner)).toThrow(expect.objectContaining({ code: 'INVALID_TASK', message: `agent ${owner.id} is disposed and can own no task` }))
    expect(ctx.tasks.list()).toEqual([])
  })

  it('refuses more than an owner may have running, and says which could go; others are not affected', async () => {
    const { ctx } = await start(() => 'ok', { tasks: { maxRunningPerOwner: 2 } })
    const [owner, other] = [ctx.agents.create(), ctx.agents.create()]
    const jobs = [startJob(ctx, owner), startJob(ctx, owner)]
    const run = vi.fn<TaskSpec['run']>(() => never)
    expect(() => startJob(ctx, owner, { run })).toThrow(TaskError)
    expect(() => startJob(ctx, owner, { run })).toThrow(expect.objectContaining({
      code: 'OWNER_LIMIT',
      message: '2 background tasks are running and 2 may (maxRunningPerOwner); wait for one to end, or kill one (job-1, job-2)',
    }))
    expect(run).not.toHaveBeenCalled()
    expect(startJob(ctx, other).task.id).toBe('job-3')
    jobs[0]!.complete()
    await ctx.tasks.wait('job-1')
    expect(startJob(ctx, owner).task.id).toBe('job-4')
  })

  it('lets an owner have 32 running, unless told otherwise', async () => {
    const { ctx } = await start()
    const owner = ctx.agents.create()
    for (let n = 0; n < 32; n++) startJob(ctx, owner)
    expect(() => startJob(ctx, owner)).toThrow(expect.objectContaining({ code: 'OWNER_LIMIT' }))
  })
})

describe('work that ends', () => {
  const endings: [string, TaskSpec['run'], Partial<Task>][] = [
    ['with a result is completed', async () => ({ status: 'completed', output: '' }), { status: 'completed', outcome: { status: 'completed', output: '' } }],
    ['with an error is failed', async () => ({ status: 'failed', error: 'no luck' }), { status: 'failed', outcome: { status: 'failed', error: 'no luck' } }],
    ['by itself as killed is killed', async () => ({ status: 'killed' }), { status: 'killed', outcome: { status: 'killed' } }],
    ['by rejecting is failed, with the message', () => Promise.reject(new Error('no luck')), { outcome: { status: 'failed', error: 'no luck' } }],
    ['by rejecting with what is no error is failed', () => Promise.reject('no luck'), { outcome: { status: 'failed', error: 'no luck' } }],
    ['by throwing is failed', () => { throw new Error('no luck') }, { outcome: { status: 'failed', error: 'no luck' } }],
    ['with nothing is failed', async () => undefined as never, { outcome: { status: 'failed', error: 'the work ended with something that is no outcome' } }],
    ['with a result that is no text is failed', async () => ({ status: 'completed', output: 7 as never }), { outcome: { status: 'failed', error: 'the work ended with something that is no outcome' } }],
    ['with an unknown status is failed', async () => ({ status: 'paused' as never }), { outcome: { status: 'failed', error: 'the work ended with something that is no outcome' } }],
  ]
  it.each(endings)('%s', async (_what, run, expected) => {
    const { ctx } = await start()
    const { task } = startJob(ctx, ctx.agents.create(), { run })
    expect(await ctx.tasks.wait(task.id)).toMatchObject(expected)
  })

  it('says what it does only while it does it', async () => {
    const { ctx } = await start()
    const { task, complete } = startJob(ctx, ctx.agents.create(), { activity: () => ({ step: 3, tool: 'look' }) })
    expect(task.activity).toEqual({ step: 3, tool: 'look' })
    complete()
    await ctx.tasks.wait(task.id)
    expect(task.activity).toBeUndefined()
  })
})

describe('tasks are found', () => {
  it('by id, and by owner, oldest first; with an owner, only if they are theirs', async () => {
    const { ctx } = await start()
    const [mine, other] = [ctx.agents.create(), ctx.agents.create()]
    const [one, two, three] = [startJob(ctx, mine), startJob(ctx, other), startJob(ctx, mine)].map(({ task }) => task)
    expect(ctx.tasks.list()).toEqual([one, two, three])
    expect(ctx.tasks.list(mine)).toEqual([one, three])
    expect([ctx.tasks.get('job-2'), ctx.tasks.get('job-2', other), ctx.tasks.get('job-2', mine), ctx.tasks.get('job-9')]).toEqual([two, two, undefined, undefined])
  })

  it('or refused with the ids that the caller has, never another\'s, and the nearest of them', async () => {
    const { ctx } = await start()
    const [mine, other, nobody] = [ctx.agents.create(), ctx.agents.create(), ctx.agents.create()]
    startJob(ctx, mine)
    startJob(ctx, other)
    startJob(ctx, mine)
    const { core } = ctx.tasks
    expect(() => core.need('job-2', mine)).toThrow(expect.objectContaining({ code: 'UNKNOWN_TASK', message: 'no task "job-2"; did you mean "job-1"? (your tasks: job-1, job-3)' }))
    expect(() => core.need('job-1', nobody)).toThrow(expect.objectContaining({ message: 'no task "job-1" (your tasks: none)' }))
    await expect(ctx.tasks.wait('job_3')).rejects.toMatchObject({ code: 'UNKNOWN_TASK', message: 'no task "job_3"; did you mean "job-3"? (tasks: job-1, job-2, job-3)' })
    await expect(ctx.tasks.kill('x', 'enough')).rejects.toMatchObject({ code: 'UNKNOWN_TASK' })
  })

  it('until a thousand newer ones came, if they have settled and their owner knows; what was not told yet is kept', async () => {
    const { ctx } = await start()
    const owner = ctx.agents.create()
    const running = startJob(ctx, owner).task
    const untold = startJob(ctx, owner, { notice: 'none' })
    untold.complete()
    for (let n = 0; n < 50; n++) {
      const batch = Array.from({ length: 25 }, () => startJob(ctx, owner))
      for (const { complete } of batch) complete()
      await Promise.all(batch.map(({ task }) => ctx.tasks.wait(task.id)))
      await owner.run('Go on.')
    }
    const kept = ctx.tasks.list(owner)
    expect(kept.slice(0, 2)).toEqual([running, untold.task])
    expect(kept).toHaveLength(1000)
    expect(kept.at(-1)!.id).toBe('job-1252')
  })
})

describe('ctx.tasks.wait()', () => {
  it('settles when the task does, at once if it has', async () => {
    const { ctx } = await start()
    const { task, complete } = startJob(ctx, ctx.agents.create())
    const waiting = ctx.tasks.wait(task.id)
    complete()
    expect(await waiting).toMatchObject({ status: 'completed' })
    expect(await ctx.tasks.wait(task.id, { timeoutMs: 0, signal: AbortSignal.abort() })).toBe(task)
  })

  it('answers with the task as it stands when the time is over', async () => {
    fakeTimers()
    const { ctx } = await start()
    const { task, complete } = startJob(ctx, ctx.agents.create())
    const waiting = ctx.tasks.wait(task.id, { timeoutMs: 5000 })
    vi.advanceTimersByTime(5000)
    expect(await waiting).toMatchObject({ status: 'running' })
    const again = ctx.tasks.wait(task.id, { timeoutMs: 5000 })
    complete()
    expect(await again).toMatchObject({ status: 'completed' })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('rejects with the reason of its signal, and leaves the task alone', async () => {
    fakeTimers()
    const { ctx } = await start()
    const { task } = startJob(ctx, ctx.agents.create())
    const controller = new AbortController()
    const waiting = ctx.tasks.wait(task.id, { timeoutMs: 5000, signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await expect(ctx.tasks.wait(task.id, { signal: controller.signal })).rejects.toThrow('enough')
    expect([task.status, vi.getTimerCount()]).toEqual(['running', 0])
  })
})
