import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as toolTasks from '../src/index.ts'
import { call, found, start, startWork } from './support.ts'

const names = ['task_kill', 'task_list', 'task_output']
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

describe('whose tasks', () => {
  it.each(['task_output', 'task_kill'])('%s knows only the caller\'s, and answers an unknown id with those', async tool => {
    const app = await start()
    const [agent, other] = [app.ctx.agents.create(), app.ctx.agents.create()]
    startWork(app, agent)
    const { task } = startWork(app, other)
    startWork(app, agent)
    expect(await call(agent, tool, { task_id: 'subagent-2' })).toBe('Error: no task "subagent-2"; did you mean "subagent-1"? (your tasks: subagent-1, subagent-3)')
    expect(await call(app.ctx.agents.create(), tool, { task_id: 'subagent-1' })).toBe('Error: no task "subagent-1" (your tasks: none)')
    expect(await call(agent, tool, { task_id: '' })).toBe('Error: no task "" (your tasks: subagent-1, subagent-3)')
    expect(task.status).toBe('running')
  })

  it('a parent does not have its child\'s, nor the child its parent\'s', async () => {
    const app = await start()
    const agent = app.ctx.agents.create()
    const child = app.ctx.agents.create({ parent: agent })
    startWork(app, agent)
    startWork(app, child)
    expect(await call(agent, 'task_list', {})).toMatch(/^subagent-1 [^\n]*$/)
    expect(await call(child, 'task_list', {})).toMatch(/^subagent-2 [^\n]*$/)
  })

  it.each([['task_output', { task_id: 'subagent-1', wait: true }], ['task_list', {}], ['task_kill', { task_id: 'subagent-1' }]])('%s without a calling agent is refused', async (tool, args) => {
    const app = await start()
    const { task } = startWork(app, app.ctx.agents.create())
    expect(await app.ctx.tools.view().execute(tool, args, { callId: 'c' })).toEqual({
      isError: true, content: [{ type: 'text', text: `Error: ${tool} tool requires a calling agent (exec.agent was undefined)` }],
    })
    expect(task.status).toBe('running')
  })
})

describe('the tools', () => {
  it('may overlap with their neighbours, and say what they do to the world', async () => {
    const app = await start()
    const { tools } = app.ctx.tools.core
    expect(names.map(name => [tools.get(name)!.concurrency, tools.get(name)!.effect])).toEqual([
      ['parallel', 'read'], ['parallel', 'read'], ['parallel', 'read'],
    ])
  })

  it('need a task_id, and no other argument', async () => {
    const app = await start()
    const { tools } = app.ctx.tools.core
    expect(names.map(name => (tools.get(name)!.spec.inputSchema as { required?: string[] }).required)).toEqual([['task_id'], undefined, ['task_id']])
  })

  it('keep the model from polling', async () => {
    const app = await start()
    for (const name of ['task_list', 'task_output']) expect(app.ctx.tools.core.tools.get(name)!.spec.description).toMatch(/a notice comes by itself when a task ends/i)
    expect(JSON.stringify(app.ctx.tools.view().specs)).not.toMatch(/check (?:on|regularly|again)|every \d|status/i)
  })

  it('say how long a wait may be, by the config; a default that is longer than the longest is the longest', async () => {
    const timeout = async (config: Partial<toolTasks.Config>) => {
      const { ctx } = await start(undefined, { toolTasks: config })
      return JSON.stringify(ctx.tools.core.tools.get('task_output')!.spec)
    }
    expect(await timeout({})).toContain('Default: 60000; at most 600000.')
    expect(await timeout({ defaultWaitMs: 5, maxWaitMs: 10 })).toContain('Default: 5; at most 10.')
    expect(await timeout({ maxWaitMs: 10 })).toContain('Default: 10; at most 10.')
  })

  it('go with the plugin, and with ctx.tasks; tasks do not go with the plugin', async () => {
    const app = await start()
    const agent = app.ctx.agents.create()
    const { task, end } = startWork(app, agent)
    expect(app.ctx.tools.list()).toEqual(names)
    await app.fiber.dispose()
    expect(app.ctx.tools.list()).toEqual([])
    expect(task.status).toBe('running')
    await end(found)
    await agent.untilQuiet()
    expect(task.delivery).toBe('delivered')
  })

  it('leave when ctx.tasks does, and come back with it', async () => {
    const { ctx, fiber } = await start()
    const [tasks] = [...ctx.registry.values()].flatMap(plugin => [...plugin.fibers]).filter(({ name }) => name === 'TaskService')
    await tasks!.restart()
    await fiber.await()
    expect(ctx.tools.list()).toEqual(names)
    await tasks!.dispose()
    expect(ctx.tools.list()).toEqual([])
  })
})

describe('the config', () => {
  it.each([{ maxWaitMs: 0 }, { defaultWaitMs: 0 }, { maxWaitMs: 2 ** 31 }, { defaultWaitMs: 1.5 }])('refuses a time that no timer takes: %j', config => {
    expect(() => toolTasks.Config(config)).toThrow(Object.keys(config)[0]!)
  })

  it('stands in the README, each key with its default', () => {
    const rows = Array.from(readme.matchAll(/^\| `(\w+)` \| (\d+) \|/gm), ([, key, value]) => [key, Number(value)])
    expect(Object.fromEntries(rows)).toEqual(toolTasks.Config())
  })
})

it('has no default export, which would hide `inject` and `Config` from a loader', () => {
  expect(toolTasks).not.toHaveProperty('default')
})
