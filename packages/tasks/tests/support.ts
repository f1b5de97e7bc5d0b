import AgentService, { type Agent } from '@offshoot/agent'
import ModelService, { type ModelRequest } from '@offshoot/model'
import { type FakeModel, type FakeReply, fakeModel } from '@offshoot/model/testing'
import SessionService, { type Session } from '@offshoot/session'
import ToolService, { defineTool, type Tool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { Context } from 'cordis'
import { onTestFinished, vi } from 'vitest'
import TaskService, { type Task, type TaskOutcome, type TaskSpec } from '../src/index.ts'

export { gate } from '../../../tests/gate.ts'

export interface App {
  readonly ctx: Context
  readonly model: FakeModel
  /** What went to the log of warnings. */
  readonly logged: unknown[]
}

export interface Options {
  readonly agent?: Partial<AgentService.Config>
  readonly tasks?: Partial<TaskService.Config>
}

type Answer = FakeReply | string | Promise<FakeReply | string>

/** A real app whose model `main` answers by `reply`, `ok` unless told otherwise. */
export async function start(reply: (request: ModelRequest, index: number) => Answer = () => 'ok', options: Options = {}): Promise<App> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  for (const service of [SessionService, ModelService, ToolService]) await ctx.plugin(service)
  await ctx.plugin(AgentService, options.agent ?? {})
  await ctx.plugin(TaskService, options.tasks ?? {})
  const model = fakeModel(reply)
  ctx.models.register('main', model)
  const logged: unknown[] = []
  ctx.logger.exporter({ colors: false, levels: { default: 3 }, export: ({ args }: { args: unknown[] }) => { logged.push(args[0]) } } as never)
  return { ctx, model, logged }
}

/** A task whose work does nothing until the test ends it, or it is killed. */
export interface Job {
  readonly task: Task
  readonly complete: (output?: string) => void
  readonly settle: (outcome: TaskOutcome) => void
  readonly fail: (error: Error) => void
}

export function startJob(ctx: Context, owner: Agent, spec: Partial<TaskSpec> = {}): Job {
  let settle!: (outcome: TaskOutcome) => void
  let fail!: (error: Error) => void
  const ended = new Promise<TaskOutcome>((resolve, reject) => {
    settle = resolve
    fail = reject
  })
  const task = ctx.tasks.start({
    kind: 'job', label: 'a job', owner,
    run: signal => {
      signal.addEventListener('abort', () => { settle({ status: 'killed' }) }, { once: true })
      return ended
    },
    ...spec,
  })
  return { task, settle, fail, complete: (output = `result of ${task.id}`) => { settle({ status: 'completed', output }) } }
}

export function tool(name: string, execute: () => string | Promise<string>): Tool {
  return defineTool({ name, description: `Does ${name}.`, parameters: Type.Object({}), execute })
}

/** Timeouts that only the test lets pass, until it ends. The event loop goes on by itself. */
export function fakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  onTestFinished(() => { vi.useRealTimers() })
}

/** Work that nothing ends. */
export const never: Promise<never> = new Promise(() => {})

/** Everything that can go on by itself has done so, and what is left waits for something. */
export async function rest(): Promise<void> {
  for (let tick = 0; tick < 4; tick++) await new Promise<void>(resolve => { setImmediate(resolve) })
}

/** The messages of the log that a user did not write, nor a model. */
export function noticesIn(session: Session): string[] {
  return session.entries().flatMap(({ source, message }) => source === 'notice' ? [textIn(message.content)] : [])
}

/** What the newest message of a request says. */
export function lastText(request: ModelRequest): string {
  return textIn(request.prompt.at(-1)!.content)
}

function textIn(content: ModelRequest['prompt'][number]['content']): string {
  return typeof content === 'string' ? content : content.map(part => 'text' in part ? part.text : part.type).join('')
}

export function notice(id: string, text = `result of ${id}`, status = 'completed'): string {
  return `<task-notice task="${id}" status="${status}">${text}</task-notice>`
}
