import { describe, expect, it, vi } from 'vitest'
import { call, found, gate, start, startWork, stopTheClock } from './support.ts'

describe('task_list', () => {
  it('has a line for each task of the caller: what runs, with step and tool, then what has ended, the latest first', async () => {
    stopTheClock()
    const app = await start()
    const agent = app.ctx.agents.create()
    const stopped = gate()
    const first = startWork(app, agent, { label: 'the first' })
    const second = startWork(app, agent, { label: 'the second' })
    startWork(app, agent, { label: 'the\nthird', activity: () => ({ step: 2, tool: 'read_file' }) })
    startWork(app, agent, { kind: 'build', label: 'all of it', run: () => stopped.opened.then(() => ({ status: 'killed' as const })) })
    startWork(app, app.ctx.agents.create(), { label: 'not yours' })
    vi.advanceTimersByTime(1000)
    await second.end({ status: 'failed', error: 'subagent run failed' })
    vi.advanceTimersByTime(60_000)
    await first.end(found)
    void app.ctx.tasks.kill('build-1', 'enough')
    expect((await call(agent, 'task_list', {})).split('\n')).toEqual([
      'subagent-3 (the third): running, 1 min 1 s, step 2, in tool read_file',
      'build-1 (all of it): stopping (enough), 1 min 1 s',
      'subagent-1 (the first): completed after 1 min 1 s, not read yet',
      'subagent-2 (the second): failed after 1 s, not read yet',
    ])
    await call(agent, 'task_output', { task_id: 'subagent-2' })
    expect(await call(agent, 'task_list', {})).toMatch(/\nsubagent-2 \(the second\): failed after 1 s$/)
    stopped.open()
  })

  it('says so where there are none', async () => {
    const app = await start()
    startWork(app, app.ctx.agents.create())
    expect(await call(app.ctx.agents.create(), 'task_list', {})).toBe('no background tasks')
  })

  it('stays short: of those that have ended it names the latest 20, and counts the rest', async () => {
    stopTheClock()
    const app = await start()
    const agent = app.ctx.agents.create()
    for (let i = 0; i < 23; i++) {
      await startWork(app, agent).end(found)
      vi.advanceTimersByTime(1)
    }
    const lines = (await call(agent, 'task_list', {})).split('\n')
    expect(lines).toHaveLength(21)
    expect(lines[0]).toMatch(/^subagent-23 /)
    expect(lines[19]).toMatch(/^subagent-4 /)
    expect(lines[20]).toBe('and 3 that ended earlier')
  })
})
