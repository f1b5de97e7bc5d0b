import { describe, expect, it, vi } from 'vitest'
import { call, found, gate, start, startWork, stopTheClock } from './support.ts'

const kill = { task_id: 'subagent-1', reason: 'the answer came from elsewhere' }

describe('task_kill of a task', () => {
  it('that starts or runs: ends it, waits for that, and says so', async () => {
    const app = await start()
    const agent = app.ctx.agents.create()
    const [stopping, stopped] = [gate(), gate()]
    const { task } = startWork(app, agent, {
      run: signal => new Promise(resolve => {
        signal.addEventListener('abort', () => {
          stopping.open()
          void stopped.opened.then(() => { resolve({ status: 'killed' }) })
        })
      }),
    })
    const killing = call(agent, 'task_kill', kill)
    await stopping.opened
    expect(task).toMatchObject({ status: 'stopping', reason: kill.reason })
    stopped.open()
    expect(await killing).toBe('subagent-1 was killed: the answer came from elsewhere')
    expect(task.status).toBe('killed')
  })

  it.each([[undefined], [''], [' \n']])('for no reason (%j): gives it one', async reason => {
    const app = await start()
    const agent = app.ctx.agents.create()
    startWork(app, agent)
    expect(await call(agent, 'task_kill', { task_id: 'subagent-1', ...(reason === undefined ? {} : { reason }) })).toBe('subagent-1 was killed: no longer needed')
  })

  it('that is stopping: waits for the same end, with the first reason', async () => {
    stopTheClock()
    const app = await start()
    const agent = app.ctx.agents.create()
    const stopped = gate()
    startWork(app, agent, { run: () => stopped.opened.then(() => ({ status: 'killed' as const })) })
    const both = Promise.all([call(agent, 'task_kill', kill), call(agent, 'task_kill', { task_id: 'subagent-1', reason: 'me too' })])
    stopped.open()
    const text = 'subagent-1 was killed: the answer came from elsewhere'
    expect(await both).toEqual([text, text])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('that does not stop: says that it failed to', async () => {
    stopTheClock()
    const app = await start(undefined, { tasks: { stopGraceMs: 1000 } })
    const agent = app.ctx.agents.create()
    startWork(app, agent, { run: () => new Promise(() => {}) })
    const killing = call(agent, 'task_kill', kill)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await killing).toBe('subagent-1 failed: it did not stop within 1000 ms')
  })

  it('that completes while it is being stopped: it has completed, and its result is not lost', async () => {
    const app = await start()
    const agent = app.ctx.agents.create()
    const { task } = startWork(app, agent, { run: signal => new Promise(resolve => { signal.addEventListener('abort', () => { resolve(found) }) }) })
    expect(await call(agent, 'task_kill', kill)).toBe('subagent-1 completed; read its result with task_output {"task_id": "subagent-1"}')
    expect(task.delivery).toBe('undelivered')
    expect(await call(agent, 'task_output', { task_id: 'subagent-1' })).toBe('Found it.')
  })

  it.each([
    ['completed', found, 'completed; read its result with task_output {"task_id": "subagent-1"}'],
    ['failed', { status: 'failed', error: 'subagent run failed' }, 'failed: subagent run failed'],
    ['killed', { status: 'killed' }, 'was killed'],
  ] as const)('that had %s: is no error, says so, and changes nothing', async (_how, outcome, ending) => {
    const app = await start()
    const agent = app.ctx.agents.create()
    const { task, end } = startWork(app, agent)
    await end(outcome)
    expect(await call(agent, 'task_kill', kill)).toBe(`subagent-1 had already finished: it ${ending}`)
    expect(await call(agent, 'task_kill', kill)).toBe(`subagent-1 had already finished: it ${ending}`)
    expect(task).toMatchObject({ status: outcome.status, outcome })
    expect(task.reason).toBeUndefined()
  })
})

it('what task_kill has told needs no notice', async () => {
  const app = await start()
  const agent = app.ctx.agents.create()
  const { task } = startWork(app, agent)
  await call(agent, 'task_kill', kill)
  expect(task.delivery).toBe('consumed')
  await agent.untilQuiet()
  expect(app.model.requests).toEqual([])
})

it('a task_kill that is aborted goes on killing, and a notice tells of it', async () => {
  const app = await start()
  const agent = app.ctx.agents.create()
  const stopped = gate()
  const { task } = startWork(app, agent, { run: () => stopped.opened.then(() => ({ status: 'killed' as const })) })
  const controller = new AbortController()
  const killing = call(agent, 'task_kill', kill, controller.signal)
  controller.abort(new Error('enough'))
  expect(await killing).toBe('Error: enough')
  stopped.open()
  await agent.untilQuiet()
  expect(task).toMatchObject({ status: 'killed', delivery: 'delivered' })
})
