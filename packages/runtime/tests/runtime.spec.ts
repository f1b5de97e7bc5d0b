import AgentService from '@offshoot/agent'
import ApprovalService from '@offshoot/approvals'
import ModelService from '@offshoot/model'
import { fakeModel } from '@offshoot/model/testing'
import ProblemsService from '@offshoot/problems'
import SessionService from '@offshoot/session'
import SubagentService from '@offshoot/subagent'
import * as fork from '@offshoot/subagent-fork'
import * as spawn from '@offshoot/subagent-spawn'
import TaskService from '@offshoot/tasks'
import * as toolTasks from '@offshoot/tool-tasks'
import ToolService from '@offshoot/tools'
import { Context, type Fiber } from 'cordis'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as runtime from '../src/index.ts'

const services = ['problems', 'sessions', 'models', 'tools', 'agents', 'tasks', 'subagents']

async function appWith(config?: runtime.Input): Promise<Context> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(runtime, config)
  await settled(ctx)
  return ctx
}

function fibersOf(ctx: Context): Fiber[] {
  return [...ctx.registry.values()].flatMap(plugin => [...plugin.fibers])
}

/** Until nothing in the app is loading or unloading. */
async function settled(ctx: Context): Promise<void> {
  for (;;) {
    const busy = fibersOf(ctx).filter(fiber => fiber.inertia)
    if (busy.length === 0) return
    await Promise.allSettled(busy.map(fiber => fiber.await()))
  }
}

const present = (ctx: Context): string[] => services.filter(service => ctx.get(service) !== undefined)

describe('the runtime', () => {
  it('mounts every service, the task tools and both providers, in one plugin without config', async () => {
    const ctx = await appWith()
    expect(present(ctx)).toEqual(services)
    expect(ctx.subagents.list()).toEqual(['spawn', 'fork'])
    expect(ctx.models.list()).toEqual([])
    expect(ctx.tools.list().sort()).toEqual(['task_kill', 'task_list', 'task_output'])
  })

  it('runs agents and their children on a model that is yours', async () => {
    const ctx = await appWith()
    ctx.models.register('main', fakeModel(() => 'The answer.'))
    const parent = ctx.agents.create()
    await using run = await ctx.subagents.start('spawn', { prompt: 'Go.', parent, signal: new AbortController().signal })
    expect(await run.result).toMatchObject({ stopReason: 'completed', output: [{ text: 'The answer.' }] })
  })

  it('hands each package its config', async () => {
    const ctx = await appWith({
      model: { rateLimit: { maxAttempts: 3 } },
      tools: { maxOutputBytes: 5000 },
      agent: { model: 'quick', persona: 'You are a careful engineer.', maxSteps: 2, maxParallelTools: 1 },
      tasks: { maxRunningPerOwner: 1 },
      toolTasks: { maxWaitMs: 7 },
      subagents: { maxDepth: 0, disposeGraceMs: 5 },
      spawn: { name: 'helper' },
      fork: { name: 'branch', seed: 'steps' },
    })
    ctx.models.register('quick', fakeModel(() => ({ calls: [{ name: 'nothing' }] })))
    const agent = ctx.agents.create()
    expect(agent).toMatchObject({ modelName: 'quick', maxSteps: 2 })
    expect(agent.system.content).toMatch(/^You are a careful engineer\.\n/)
    expect(ctx.agents.core.maxParallelTools).toBe(1)
    expect(ctx.tools.core.output.maxBytes()).toBe(5000)
    expect(ctx.models.core.rateLimits.options).toEqual({ maxAttempts: 3, maxWaitMs: 600_000 })
    expect(ctx.subagents.core.disposeGraceMs).toBe(5)
    expect(ctx.subagents.list()).toEqual(['helper', 'branch'])
    expect(ctx.subagents.getProvider('branch')).toHaveProperty('toolWording')
    expect(ctx.tasks.core.limits.maxRunningPerOwner).toBe(1)
    expect(JSON.stringify(ctx.tools.view().specs)).toContain('at most 7.')
    await expect(ctx.subagents.start('helper', { prompt: 'Go.', parent: agent, signal: new AbortController().signal })).rejects.toMatchObject({ code: 'DEPTH_LIMIT' })
  })

  it('has the defaults of those packages', () => {
    expect(runtime.Config()).toEqual({
      session: SessionService.Config(), model: ModelService.Config(), tools: ToolService.Config(),
      agent: AgentService.Config(), approvals: ApprovalService.Config(), tasks: TaskService.Config(), toolTasks: toolTasks.Config(), subagents: SubagentService.Config(),
      spawn: spawn.Config(), fork: fork.Config(),
    })
    expect(runtime.Config({ agent: { maxSteps: 1 } }).agent).toEqual({ ...AgentService.Config(), maxSteps: 1 })
  })

  it.each<[string, unknown, string]>([
    ['agent.maxSteps', { agent: { maxSteps: 0 } }, 'agent.maxSteps'],
    ['subagents.maxDepth', { subagents: { maxDepth: 'deep' } }, 'subagents.maxDepth'],
    ['spawn.name', { spawn: { name: 1 } }, 'spawn.name'],
  ])('refuses a wrong %s, naming it', async (_what, config, path) => {
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    await expect(ctx.plugin(runtime, config as runtime.Input).await()).rejects.toThrow(path)
    expect(present(ctx)).toEqual([])
  })

  it('takes the app\'s ctx.problems where there is one', async () => {
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    await ctx.plugin(ProblemsService, { locate: () => 'cordis.yml:1:3' })
    const loaded = ctx.plugin(runtime)
    await settled(ctx)
    expect(present(ctx)).toEqual(services)
    expect(ctx.problems.locate(ctx)).toBe('cordis.yml:1:3')
    await loaded.dispose()
    expect(present(ctx)).toEqual(['problems'])
  })

  it('goes with everything that it mounted, and comes back', async () => {
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    const before = fibersOf(ctx).length
    const loaded = ctx.plugin(runtime)
    await settled(ctx)
    ctx.models.register('main', fakeModel(() => ({ hold: new Promise(() => {}) })))
    const agent = ctx.agents.create()
    const turn = agent.run('Go.')
    await loaded.dispose()
    expect(await turn).toMatchObject({ stopReason: 'aborted' })
    expect(agent.state).toBe('disposed')
    expect(present(ctx)).toEqual([])
    expect(fibersOf(ctx)).toHaveLength(before)
    await ctx.plugin(runtime)
    await settled(ctx)
    expect(present(ctx)).toEqual(services)
  })

  it('twice in one app is a conflict that names the services, and the first goes on', async () => {
    const ctx = await appWith()
    const mine = new Set(fibersOf(ctx))
    await ctx.plugin(runtime)
    await settled(ctx)
    const failures = await Promise.all(fibersOf(ctx).filter(fiber => !mine.has(fiber)).map(fiber => fiber.await().then(() => undefined, (error: unknown) => String(error))))
    for (const service of services.filter(name => name !== 'problems')) {
      expect(failures).toContainEqual(expect.stringContaining(`service "${service}" has been registered`))
    }
    expect(present(ctx)).toEqual(services)
    expect(ctx.subagents.list()).toEqual(['spawn', 'fork'])
  })

  it('has no default export, which would hide `Config` from a loader', () => {
    expect(runtime).not.toHaveProperty('default')
  })
})
