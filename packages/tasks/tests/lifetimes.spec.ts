import { getEventListeners } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import type { Task } from '../src/index.ts'
import { type App, fakeTimers, gate, notice, noticesIn, never, rest, start, startJob } from './support.ts'

/** What `task/orphaned` said, from here on. */
function orphansOf({ ctx }: App): string[] {
  const orphans: string[] = []
  ctx.on('task/orphaned', ({ id }) => { orphans.push(id) })
  return orphans
}

async function unloadTasks({ ctx }: App): Promise<void> {
  const [fiber] = [...ctx.registry.values()].flatMap(plugin => [...plugin.fibers]).filter(({ name }) => name === 'TaskService')
  await fiber!.dispose()
}

describe('disposing an owner', () => {
  it('kills its tasks, and waits until they have stopped', async () => {
    const { ctx } = await start()
    const [owner, other] = [ctx.agents.create(), ctx.agents.create()]
    const stopped = gate()
    const slow = startJob(ctx, owner, {
      run: signal => new Promise(resolve => { signal.addEventListener('abort', () => { void stopped.opened.then(() => { resolve({ status: 'killed' }) }) }) }),
    }).task
    const [quick, others] = [startJob(ctx, owner).task, startJob(ctx, other).task]
    let gone = false
    const disposal = owner.dispose().then(() => { gone = true })
    await rest()
    expect([slow.status, quick.status, others.status, gone]).toEqual(['stopping', 'killed', 'running', false])
    expect(slow.reason).toBe('the agent was disposed')
    stopped.open()
    await disposal
    expect(slow.status).toBe('killed')
    expect(ctx.agents.list()).toEqual([other])
  })

  it('waits no longer than stopGraceMs for work that ignores its signal', async () => {
    fakeTimers()
    const { ctx } = await start()
    const owner = ctx.agents.create()
    const { task } = startJob(ctx, owner, { run: () => never })
    const disposal = owner.dispose()
    vi.advanceTimersByTime(15_000)
    await disposal
    expect(task).toMatchObject({ status: 'failed', outcome: { error: 'it did not stop within 15000 ms' } })
  })

  it('wakes nobody with what its tasks had to say, and makes no request', async () => {
    const { ctx, model } = await start()
    const owner = ctx.agents.create()
    startJob(ctx, owner)
    await owner.dispose()
    await rest()
    expect(model.requests).toEqual([])
  })

  it('leaves a result that it was not told readable, and announces it once', async () => {
    const app = await start()
    const { ctx } = app
    const orphans = orphansOf(app)
    const owner = ctx.agents.create()
    const { task, complete } = startJob(ctx, owner)
    complete('It is blue.')
    await ctx.tasks.wait(task.id)
    await Promise.all([owner.dispose(), owner.dispose()])
    await rest()
    expect(ctx.tasks.get('job-1')).toMatchObject({ status: 'completed', delivery: 'undelivered', outcome: { output: 'It is blue.' } })
    expect(ctx.tasks.list(owner)).toEqual([task])
    await unloadTasks(app)
    expect(orphans).toEqual(['job-1'])
  })

  it('announces a result that comes while its task is being killed, after it has settled', async () => {
    const app = await start()
    const { ctx } = app
    const announced: [string, Task['status']][] = []
    ctx.on('task/orphaned', ({ id, status }) => { announced.push([id, status]) })
    const owner = ctx.agents.create()
    startJob(ctx, owner, { run: signal => new Promise(resolve => { signal.addEventListener('abort', () => { resolve({ status: 'completed', output: 'just done' }) }) }) })
    await owner.dispose()
    expect(announced).toEqual([['job-1', 'completed']])
  })

  it('announces nothing that was told, or collected, or that nobody was to be told', async () => {
    const app = await start()
    const { ctx } = app
    const orphans = orphansOf(app)
    const owner = ctx.agents.create()
    const [told, collected, quiet] = [startJob(ctx, owner), startJob(ctx, owner), startJob(ctx, owner, { notice: 'none' })]
    told.complete()
    await rest()
    collected.complete()
    quiet.complete()
    await ctx.tasks.wait(collected.task.id)
    ctx.tasks.core.need(collected.task.id).consume()
    await owner.dispose()
    expect(orphans).toEqual([])
  })

  it('ends the tries to tell it something, at once', async () => {
    fakeTimers()
    const app = await start()
    const { ctx } = app
    const orphans = orphansOf(app)
    const owner = ctx.agents.create()
    vi.spyOn(owner, 'inject').mockImplementation(() => { throw new Error('no answer') })
    startJob(ctx, owner).complete()
    await rest()
    expect(vi.getTimerCount()).toBe(1)
    await owner.dispose()
    expect([vi.getTimerCount(), orphans, ctx.agents.list()]).toEqual([0, ['job-1'], []])
  })

  it('ends its children\'s tasks before its own are done with: the whole tree is gone', async () => {
    const { ctx } = await start()
    const owner = ctx.agents.create()
    const child = ctx.agents.create({ parent: owner })
    const tasks = [startJob(ctx, owner).task, startJob(ctx, child).task]
    await owner.dispose()
    expect(tasks.map(({ status }) => status)).toEqual(['killed', 'killed'])
    expect(ctx.agents.list()).toEqual([])
  })
})

describe('disposing the app', () => {
  it('ends every task and agent, and leaves no timer and no abort listener', async () => {
    fakeTimers()
    const { ctx, model } = await start(() => ({ hold: never }))
    const { signal } = new AbortController()
    const [working, idle] = [ctx.agents.create(), ctx.agents.create()]
    const child = ctx.agents.create({ parent: working })
    const turn = working.runToQuiet('Go.', { signal })
    const quiet = idle.untilQuiet({ signal })
    const jobs = [working, idle, child].flatMap(owner => [startJob(ctx, owner), startJob(ctx, owner)])
    const waiting = ctx.tasks.wait(jobs[0]!.task.id, { timeoutMs: 60_000, signal })
    const stuck = startJob(ctx, idle)
    vi.spyOn(child, 'inject').mockImplementationOnce(() => { throw new Error('no answer') })
    jobs.at(-1)!.complete()
    await rest()
    void ctx.tasks.kill(stuck.task.id, 'enough')
    const { core: agents } = ctx.agents
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)

    await ctx.fiber.dispose()
    await Promise.all([turn, quiet, waiting])
    expect(jobs.map(({ task }) => task.status)).toEqual([...Array<string>(5).fill('killed'), 'completed'])
    expect([agents.list(), vi.getTimerCount(), getEventListeners(signal, 'abort')]).toEqual([[], 0, []])
    // What was killed so wakes nobody.
    await rest()
    expect(model.requests).toHaveLength(1)
  })

  it('waits for work that takes its time to stop', async () => {
    const { ctx } = await start()
    const stopped = gate()
    const { task } = startJob(ctx, ctx.agents.create(), {
      run: signal => new Promise(resolve => { signal.addEventListener('abort', () => { void stopped.opened.then(() => { resolve({ status: 'killed' }) }) }) }),
    })
    let gone = false
    const disposal = ctx.fiber.dispose().then(() => { gone = true })
    await rest()
    expect([task.status, gone]).toEqual(['stopping', false])
    stopped.open()
    await disposal
    expect(task.status).toBe('killed')
  })
})

describe('unloading ctx.tasks alone', () => {
  it('kills what runs, tells the owners that live on, and starts nothing more', async () => {
    const app = await start()
    const { ctx } = app
    const owner = ctx.agents.create()
    const { tasks } = ctx
    startJob(ctx, owner)
    await unloadTasks(app)
    await rest()
    expect(noticesIn(owner.session)).toEqual([notice('job-1', 'background tasks are being unloaded', 'killed')])
    expect(() => tasks.core.start({ kind: 'job', label: 'a job', owner, run: () => never })).toThrow(expect.objectContaining({ code: 'INVALID_TASK', message: 'background tasks are being unloaded, and no new one can start' }))
    await owner.dispose()
  })
})

describe('events', () => {
  it('come in order: started, settled, and then the owner is told', async () => {
    const { ctx } = await start()
    const order: string[] = []
    ctx.on('task/started', ({ id, status }) => { order.push(`started ${id} ${status}`) })
    ctx.on('task/settled', ({ id, status, delivery }) => { order.push(`settled ${id} ${status} ${delivery}`) })
    const owner = ctx.agents.create()
    owner.on(event => { if (event.type === 'turn-start') order.push(`turn by ${event.trigger}`) })
    const { complete } = startJob(ctx, owner)
    order.push('returned')
    complete()
    await rest()
    expect(order).toEqual(['started job-1 running', 'returned', 'settled job-1 completed undelivered', 'turn by notice'])
  })

  it('with a listener that throws cost nobody anything: it is logged', async () => {
    const { ctx, logged } = await start()
    for (const name of ['task/started', 'task/settled', 'task/orphaned'] as const) ctx.on(name, () => { throw new Error(`not ${name}`) })
    const heard: string[] = []
    ctx.on('task/settled', ({ id }) => { heard.push(id) })
    const owner = ctx.agents.create()
    const [told, untold] = [startJob(ctx, owner), startJob(ctx, owner)]
    told.complete()
    await rest()
    expect(noticesIn(owner.session)).toEqual([notice('job-1')])
    untold.complete()
    await ctx.tasks.wait('job-2')
    await owner.dispose()
    expect(heard).toEqual(['job-1', 'job-2'])
    expect(logged.map(error => (error as Error).message)).toEqual(['not task/started', 'not task/started', 'not task/settled', 'not task/settled', 'not task/orphaned'])
  })
})
