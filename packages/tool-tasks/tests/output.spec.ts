import type { TaskOutcome } from '@offshoot/tasks'
import { describe, expect, it, vi } from 'vitest'
import { call, found, start, startWork, stopTheClock } from './support.ts'

const read = { task_id: 'subagent-1' }
const wait = { ...read, wait: true }

describe('task_output of a task that has ended', () => {
  const outcomes: [string, TaskOutcome, string][] = [
    ['completed: its result, alone', found, 'Found it.'],
    ['failed: its reason, as an error', { status: 'failed', error: 'subagent run failed' }, 'Error: subagent run failed'],
    ['killed by nobody that it knows of: so, as an error', { status: 'killed' }, 'Error: subagent-1 was killed'],
  ]

  it.each(outcomes)('%s, and the same again when it is read again', async (_what, outcome, text) => {
    const app = await start()
    const agent = app.ctx.agents.create()
    await startWork(app, agent).end(outcome)
    expect(await call(agent, 'task_output', read)).toBe(text)
    expect(await call(agent, 'task_output', wait)).toBe(text)
  })

  it('says why it was killed', async () => {
    const app = await start()
    const agent = app.ctx.agents.create()
    startWork(app, agent)
    await app.ctx.tasks.kill('subagent-1', 'the answer came from elsewhere')
    expect(await call(agent, 'task_output', read)).toBe('Error: subagent-1 was killed: the answer came from elsewhere')
  })

  it('counts as collected, after which there is nothing to tell', async () => {
    const app = await start()
    const agent = app.ctx.agents.create()
    const { task, end } = startWork(app, agent)
    const reading = call(agent, 'task_output', wait)
    await end(found)
    expect(await reading).toBe('Found it.')
    expect(task.delivery).toBe('consumed')
    await agent.untilQuiet()
    expect(app.model.requests).toEqual([])
  })

  it('still answers after a notice has told it', async () => {
    const app = await start()
    const agent = app.ctx.agents.create()
    await startWork(app, agent).end(found)
    await agent.untilQuiet()
    expect(app.model.requests).toHaveLength(1)
    expect(await call(agent, 'task_output', read)).toBe('Found it.')
  })
})

describe('task_output of a task that has not ended', () => {
  it('says its state, how long it has run, its step and tool, and that its notice will come', async () => {
    stopTheClock()
    const app = await start()
    const agent = app.ctx.agents.create()
    startWork(app, agent, { label: 'look\n  it up ', activity: () => ({ step: 3, tool: 'shell' }) })
    vi.advanceTimersByTime(125_000)
    expect(await call(agent, 'task_output', read)).toBe(
      'subagent-1 (look it up) has not ended: running, 2 min 5 s, step 3, in tool shell. Do not poll: a notice with its result will come by itself. Go on with other work, or end your turn.',
    )
  })

  it('knows neither step nor tool of work that has none', async () => {
    stopTheClock()
    const app = await start()
    const agent = app.ctx.agents.create()
    startWork(app, agent)
    expect(await call(agent, 'task_output', read)).toMatch(/^subagent-1 \(look it up\) has not ended: running, 0 s\. /)
  })

  it('says why it is being stopped', async () => {
    stopTheClock()
    const app = await start()
    const agent = app.ctx.agents.create()
    startWork(app, agent, { run: () => new Promise(() => {}) })
    void app.ctx.tasks.kill('subagent-1', 'enough')
    expect(await call(agent, 'task_output', read)).toMatch(/^subagent-1 \(look it up\) has not ended: stopping \(enough\), 0 s\. /)
    vi.advanceTimersByTime(60_000)
  })

  it('asked again with nothing new, says that and what to do instead; it speaks again of what is new', async () => {
    stopTheClock()
    const app = await start()
    const agent = app.ctx.agents.create()
    let activity = { step: 1 }
    startWork(app, agent, { activity: () => activity })
    await call(agent, 'task_output', read)
    vi.advanceTimersByTime(3_600_000)
    const again = 'subagent-1: nothing new after 1 h 0 min. Do not poll: a notice with its result will come by itself. Go on with other work, or end your turn.'
    expect(await call(agent, 'task_output', read)).toBe(again)
    expect(await call(agent, 'task_output', read)).toBe(again)
    activity = { step: 2 }
    expect(await call(agent, 'task_output', read)).toMatch(/has not ended: running, 1 h 0 min, step 2\. /)
  })

  it('promises no notice of a task whose result somebody collects', async () => {
    stopTheClock()
    const app = await start()
    const agent = app.ctx.agents.create()
    const { task, end } = startWork(app, agent, { notice: 'none' })
    const instead = 'Do not poll: go on with other work, and wait for it (wait: true) once you need its result.'
    expect(await call(agent, 'task_output', read)).toBe(`subagent-1 (look it up) has not ended: running, 0 s. ${instead}`)
    expect(await call(agent, 'task_output', read)).toBe(`subagent-1: nothing new after 0 s. ${instead}`)
    await end(found)
    expect(await call(agent, 'task_output', read)).toBe('Found it.')
    expect(task.delivery).toBe('consumed')
  })

  it('leaves its notice to come', async () => {
    const app = await start()
    const agent = app.ctx.agents.create()
    const { task, end } = startWork(app, agent)
    await call(agent, 'task_output', read)
    await end(found)
    expect(task.delivery).toBe('undelivered')
    await agent.untilQuiet()
    expect(task.delivery).toBe('delivered')
  })
})

describe('task_output with wait', () => {
  it('answers as soon as the task has ended', async () => {
    stopTheClock()
    const app = await start()
    const agent = app.ctx.agents.create()
    const { end } = startWork(app, agent)
    const reading = call(agent, 'task_output', { ...wait, timeout_ms: 5000 })
    await end(found)
    expect(await reading).toBe('Found it.')
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([
    ['by default: defaultWaitMs', {}, 60_000],
    ['by the call: timeout_ms', { timeout_ms: 1234 }, 1234],
    ['at once: timeout_ms 0', { timeout_ms: 0 }, 0],
    ['at the longest, however much is asked for: maxWaitMs', { timeout_ms: Number.MAX_VALUE }, 600_000],
  ])('gives up with what it is doing, bounded %s', async (_how, args, ms) => {
    stopTheClock()
    const app = await start()
    const agent = app.ctx.agents.create()
    startWork(app, agent)
    let answered = false
    const reading = call(agent, 'task_output', { ...wait, ...args }).finally(() => { answered = true })
    if (ms > 0) {
      await vi.advanceTimersByTimeAsync(ms - 1)
      expect(answered).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
    } else {
      await vi.advanceTimersByTimeAsync(0)
    }
    expect(await reading).toMatch(/^subagent-1 \(look it up\) has not ended: running, /)
  })

  it.each([
    ['NaN', Number.NaN],
    ['a negative time', -1],
    ['endless', Number.POSITIVE_INFINITY],
    ['text', '1 min'],
  ])('refuses a timeout_ms that is %s', async (_what, timeout) => {
    const app = await start()
    const agent = app.ctx.agents.create()
    startWork(app, agent)
    expect(await call(agent, 'task_output', { ...wait, timeout_ms: timeout })).toMatch(/^Error: invalid arguments for "task_output": timeout_ms: expected number/)
  })

  it('sees a task through that is being stopped', async () => {
    stopTheClock()
    const app = await start(undefined, { tasks: { stopGraceMs: 1000 } })
    const agent = app.ctx.agents.create()
    startWork(app, agent, { run: () => new Promise(() => {}) })
    void app.ctx.tasks.kill('subagent-1', 'enough')
    const reading = call(agent, 'task_output', wait)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await reading).toBe('Error: it did not stop within 1000 ms')
  })

  it('that is aborted ends at once and loses nothing: the result is still told, or read', async () => {
    stopTheClock()
    const app = await start()
    const agent = app.ctx.agents.create()
    const { task, end } = startWork(app, agent)
    const controller = new AbortController()
    const reading = call(agent, 'task_output', wait, controller.signal)
    controller.abort(new Error('the user pressed Ctrl-C'))
    expect(await reading).toBe('Error: the user pressed Ctrl-C')
    expect(vi.getTimerCount()).toBe(0)
    expect(task.status).toBe('running')
    await end(found)
    expect(task.delivery).toBe('undelivered')
    expect(await call(agent, 'task_output', read)).toBe('Found it.')
  })

  it('of two calls at once, gives both the whole result', async () => {
    const app = await start()
    const agent = app.ctx.agents.create()
    const { end } = startWork(app, agent)
    const both = Promise.all([call(agent, 'task_output', wait), call(agent, 'task_output', wait)])
    await end(found)
    expect(await both).toEqual(['Found it.', 'Found it.'])
  })
})
