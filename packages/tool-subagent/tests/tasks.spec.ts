import AgentService from '@offshoot/agent'
import ModelService from '@offshoot/model'
import ProblemsService, { type Problem } from '@offshoot/problems'
import SessionService from '@offshoot/session'
import SubagentService from '@offshoot/subagent'
import * as spawn from '@offshoot/subagent-spawn'
import TaskService from '@offshoot/tasks'
import ToolService from '@offshoot/tools'
import { Context } from 'cordis'
import { toolsOf } from '@offshoot/model-ai-sdk/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as toolSubagent from '../src/index.ts'
import { App, endedRun, gate, inBackground, oddProvider, settled, tasksPlugin, taskTools } from './support.ts'

/** An app without `ctx.tasks`. */
async function appWithoutTasks(onReport: (problem: Problem) => void = () => {}): Promise<Context> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(ProblemsService, { onReport })
  for (const service of [SessionService, ModelService, ToolService, AgentService, SubagentService]) await ctx.plugin(service)
  await ctx.plugin(spawn, {})
  return ctx
}

function parameters(ctx: Context): string[] {
  const { inputSchema } = ctx.tools.view().get('subagent')!.spec
  return Object.keys((inputSchema as { properties: object }).properties)
}

const foreground = ['description', 'prompt']
const withBackground = [...foreground, 'run_in_background']

describe('run_in_background is offered exactly while there is ctx.tasks', () => {
  it('that comes first', async () => {
    const ctx = await appWithoutTasks()
    await ctx.plugin(TaskService, {})
    await ctx.plugin(toolSubagent, { provider: 'spawn' })
    await settled(ctx)
    expect(parameters(ctx)).toEqual(withBackground)
  })

  it('that comes later, reloads and goes', async () => {
    const ctx = await appWithoutTasks()
    await ctx.plugin(toolSubagent, { provider: 'spawn' })
    expect(parameters(ctx)).toEqual(foreground)
    const tasks = ctx.plugin(TaskService, {})
    await settled(ctx)
    expect(parameters(ctx)).toEqual(withBackground)
    await tasks.restart()
    await settled(ctx)
    expect(parameters(ctx)).toEqual(withBackground)
    await tasks.dispose()
    await settled(ctx)
    expect(parameters(ctx)).toEqual(foreground)
    expect(ctx.problems.list()).toEqual([])
  })

  it('before there is a provider', async () => {
    const ctx = await appWithoutTasks()
    await ctx.plugin(toolSubagent, { provider: 'late' })
    await ctx.plugin(TaskService, {})
    await settled(ctx)
    expect(ctx.tools.list()).toEqual([])
    await ctx.plugin(spawn, { name: 'late' })
    expect(parameters(ctx)).toEqual(withBackground)
  })

  it('unless it is switched off: then the tool never changes', async () => {
    const ctx = await appWithoutTasks()
    await ctx.plugin(toolSubagent, { provider: 'spawn', enableRunInBackground: false })
    const tool = ctx.tools.view().get('subagent')
    await ctx.plugin(TaskService, {})
    await settled(ctx)
    expect(ctx.tools.view().get('subagent')).toBe(tool)
    expect(parameters(ctx)).toEqual(foreground)
  })

  it('on the wire: a reload of it changes nothing, and tools stay in the order of their names', async () => {
    await using app = await App.start([{ provider: 'spawn', toolName: 'a' }, { provider: 'spawn', toolName: 'z' }])
    const agent = app.agent()
    await agent.run('First.')
    const tasks = tasksPlugin(app.ctx)
    await tasks.restart()
    await settled(app.ctx)
    await agent.run('Second.')
    await tasks.dispose()
    await settled(app.ctx)
    await agent.run('Third.')
    const [first, second, third] = app.endpoint.requests
    expect(toolsOf(first!)).toEqual(['a', ...taskTools, 'z'])
    expect(JSON.stringify(second!.body.tools)).toBe(JSON.stringify(first!.body.tools))
    expect(toolsOf(third!)).toEqual(['a', 'z'])
  })
})

it('another plugin cannot take the name while ctx.tasks comes and goes', async () => {
  const ctx = await appWithoutTasks()
  await ctx.plugin(toolSubagent, { provider: 'spawn' })
  const { tools, changed } = ctx.tools.core
  const absences: string[] = []
  const core = ctx.tools.core
  core.changed = () => {
    changed.call(core)
    if (!tools.has('subagent')) {
      try {
        ctx.tools.reserve('subagent', ctx)
        absences.push('taken')
      } catch {
        absences.push('refused')
      }
    }
  }
  const tasks = ctx.plugin(TaskService, {})
  await settled(ctx)
  await tasks.dispose()
  await settled(ctx)
  expect(absences).toEqual(['refused', 'refused'])
  expect(ctx.tools.list()).toEqual(['subagent'])
})

it('a capability that the provider lacks is reported once, whenever ctx.tasks comes', async () => {
  const reports: string[] = []
  const ctx = await appWithoutTasks(({ message }) => { reports.push(message) })
  ctx.subagents.registerProvider(oddProvider(async () => endedRun('completed', 'x')))
  await ctx.plugin(toolSubagent, { provider: 'odd', persona: 'You are terse.' })
  const tasks = ctx.plugin(TaskService, {})
  await settled(ctx)
  await tasks.restart()
  await settled(ctx)
  expect(reports).toEqual([expect.stringContaining('does not support persona')])
  expect(ctx.problems.list()).toHaveLength(1)
})

describe('children under way', () => {
  it('in the foreground are not touched when ctx.tasks reloads', async () => {
    await using app = await App.start([{ provider: 'odd' }])
    const ended = gate()
    app.ctx.subagents.registerProvider(oddProvider(async () => ({ ...endedRun('completed'), result: ended.opened.then(() => endedRun('completed', 'The text.').result) })))
    const agent = app.agent()
    const call = agent.tools.execute('subagent', { description: 'd', prompt: 'p' }, { callId: 'c', agent })
    await tasksPlugin(app.ctx).restart()
    await settled(app.ctx)
    ended.open()
    expect(await call).toMatchObject({ isError: false, content: [{ text: 'The text.' }] })
  })

  it('in the background live on when the tool goes, or its provider does: they are their owner\'s', async () => {
    await using app = await App.start([])
    const ended = gate()
    const remove = app.ctx.subagents.registerProvider(oddProvider(async () => ({ ...endedRun('completed'), result: ended.opened.then(() => endedRun('completed', 'The text.').result) })))
    const tool = await app.ctx.plugin(toolSubagent, { provider: 'odd' })
    await settled(app.ctx)
    const agent = app.agent()
    await agent.tools.execute('subagent', inBackground, { callId: 'c', agent })
    await new Promise(resolve => { setImmediate(resolve) })
    await tool.restart()
    await settled(app.ctx)
    await remove()
    await tool.dispose()
    expect(app.ctx.tools.list()).toEqual(taskTools)
    expect(app.ctx.tasks.get('subagent-1')).toMatchObject({ status: 'running' })
    ended.open()
    await agent.untilQuiet()
    expect(app.ctx.tasks.get('subagent-1')).toMatchObject({ status: 'completed', delivery: 'delivered' })
  })

  it('in the background end with ctx.tasks, and their owner is told', async () => {
    await using app = await App.start([{ provider: 'odd' }])
    app.ctx.subagents.registerProvider(oddProvider(async ({ signal }) => ({
      ...endedRun('aborted'), result: new Promise(resolve => { signal.addEventListener('abort', () => { resolve(endedRun('aborted').result) }) }),
    })))
    const agent = app.agent()
    await agent.tools.execute('subagent', inBackground, { callId: 'c', agent })
    await tasksPlugin(app.ctx).dispose()
    await agent.untilQuiet()
    expect(app.endpoint.requests.at(-1)!.body.messages.at(-1)!.content).toBe('<task-notice task="subagent-1" status="killed">background tasks are being unloaded</task-notice>')
    expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual(['aborted'])
  })
})
