import AgentService, { type Agent } from '@offshoot/agent'
import ModelService, { type ModelRequest } from '@offshoot/model'
import { type FakeModel, type FakeReply, fakeModel } from '@offshoot/model/testing'
import SessionService from '@offshoot/session'
import TaskService, { type Task, type TaskOutcome, type TaskSpec } from '@offshoot/tasks'
import ToolService from '@offshoot/tools'
import { Context, type Fiber } from 'cordis'
import { onTestFinished, vi } from 'vitest'
import * as toolTasks from '../src/index.ts'

export { gate } from '../../../tests/gate.ts'

export interface App {
  readonly ctx: Context
  /** The plugin under test. */
  readonly fiber: Fiber
  readonly model: FakeModel
}

interface Configs {
  readonly toolTasks?: Partial<toolTasks.Config>
  readonly tasks?: Partial<TaskService.Config>
}

/** A real app with the task tools; its model answers by `script`. It goes with the test. */
export async function start(script: (request: ModelRequest, index: number) => FakeReply | string | Promise<FakeReply | string> = () => 'ok', configs: Configs = {}): Promise<App> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  for (const service of [SessionService, ModelService, ToolService, AgentService]) await ctx.plugin(service)
  await ctx.plugin(TaskService, configs.tasks ?? {})
  const fiber = await ctx.plugin(toolTasks, configs.toolTasks ?? {})
  const model = fakeModel(script)
  ctx.models.register('main', model)
  return { ctx, fiber, model }
}

/** Timers and clock stand still until the test moves them; what waits for the end of a tick goes on. */
export function stopTheClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  onTestFinished(() => { vi.useRealTimers() })
}

/** A task that ends when the test says so, or when it is killed. */
export interface Work {
  readonly task: Task
  end(outcome: TaskOutcome): Promise<Task>
}

export function startWork({ ctx }: App, owner: Agent, spec: Partial<TaskSpec> = {}): Work {
  let settle!: (outcome: TaskOutcome) => void
  const task = ctx.tasks.start({
    kind: 'subagent', label: 'look it up', owner,
    run: signal => new Promise(resolve => {
      settle = resolve
      signal.addEventListener('abort', () => { resolve({ status: 'killed' }) })
    }),
    ...spec,
  })
  return {
    task,
    end(outcome) {
      settle(outcome)
      return ctx.tasks.wait(task.id)
    },
  }
}

export const found: TaskOutcome = { status: 'completed', output: 'Found it.' }

/** What `agent` reads of a call, `Error: …` included. */
export async function call(agent: Agent, tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<string> {
  const { content, isError } = await agent.tools.execute(tool, args, { callId: 'c', agent, ...(signal ? { signal } : {}) })
  const text = content.map(block => block.type === 'text' ? block.text : block.type).join()
  if (isError !== text.startsWith('Error: ')) throw new Error(`isError is ${isError} for: ${text}`)
  return text
}

/** What an agent's model was told, newest last: texts of users, results of tools. */
export function toldTo({ model }: App, request = model.requests.at(-1)!): string[] {
  return request.prompt.flatMap(message => {
    if (message.role === 'user') return message.content.map(part => part.type === 'text' ? part.text : part.type)
    if (message.role !== 'tool') return []
    return message.content.map(part => part.type === 'tool-result' && (part.output.type === 'text' || part.output.type === 'error-text') ? part.output.value : part.type)
  })
}
