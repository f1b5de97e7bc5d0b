import { type Agent, createNotify } from '@offshoot/agent'
import { type Context, Service } from 'cordis'
import z from 'schemastery'
import { TaskCore, type WaitOptions } from './core.ts'
import type { Task, TaskSpec } from './types.ts'

export type { TaskCore, WaitOptions } from './core.ts'
export { TaskError, type TaskErrorCode } from './error.ts'
export type { Task, TaskOutcome, TaskSpec, TaskStatus } from './types.ts'

declare module 'cordis' {
  interface Context {
    tasks: TaskService
  }

  interface Events {
    'task/started'(task: Task): void
    /** It has reached its outcome. Its owner may not have heard of it yet. */
    'task/settled'(task: Task): void
    /** Its owner went before it could be told of the outcome, which stays readable here. Once a task. */
    'task/orphaned'(task: Task): void
  }
}

/** Background work with an owner, to whom each outcome is told exactly once. */
export class TaskService extends Service {
  static readonly inject = ['agents']
  readonly core: TaskCore

  constructor(ctx: Context, config: TaskService.Config) {
    super(ctx, 'tasks')
    const { logger } = ctx
    const core = new TaskCore(config, createNotify(ctx), error => { logger.warn(error) })
    this.core = core
    ctx.on('agent/cancelled', (agent, reason) => { core.killAll(agent, reason instanceof Error ? reason.message : String(reason)) })
    ctx.on('agent/disposed', agent => { core.ownerGone(agent) })
    ctx.effect(() => () => core.drain(), 'tasks')
  }

  /**
   * Start background work. Everything is checked first; then the work begins, before this returns.
   *
   * The outcome is told to the owner at its next step, or wakes it; unless it was collected by then. The
   * work is ended, and waited for, when its owner is disposed.
   *
   * @throws {TaskError} `OWNER_LIMIT` where the owner has too many running; `INVALID_TASK`.
   */
  start(spec: TaskSpec): Task {
    return this.core.start(spec)
  }

  /** The task of that id; with `owner`, only if it is theirs. */
  get(id: string, owner?: Agent): Task | undefined {
    return this.core.get(id, owner)
  }

  /** Tasks of `owner`, or all; oldest first. Those that settled long ago and are known are forgotten. */
  list(owner?: Agent): Task[] {
    return this.core.list(owner)
  }

  /**
   * End a task and wait until it has settled, which work that does not stop does as `failed`. One that had settled
   * stays as it was.
   *
   * @throws {TaskError} `UNKNOWN_TASK`.
   */
  kill(id: string, reason: string): Promise<Task> {
    return this.core.kill(id, reason)
  }

  /**
   * Wait until a task has settled, or `timeoutMs` is over: look at its `status`. Reading is not collecting.
   *
   * @throws {TaskError} `UNKNOWN_TASK`; the reason of `signal` when that aborts.
   */
  wait(id: string, options?: WaitOptions): Promise<Task> {
    return this.core.wait(id, options)
  }
}

export namespace TaskService {
  export interface Config {
    /** How many tasks one agent may have running. */
    maxRunningPerOwner: number
    /** How long a killed task may take to stop before it counts as failed. */
    stopGraceMs: number
    /** Longest result that a notice carries itself. */
    inlineBytes: number
  }

  export const Config: z<Partial<Config>, Config> = z.object({
    maxRunningPerOwner: z.natural().min(1).default(32).description('How many tasks one agent may have running.'),
    stopGraceMs: z.natural().min(1).default(15_000).description('How long a killed task may take to stop, in ms.'),
    inlineBytes: z.natural().default(4096).description('Longest result that a notice carries itself, in bytes.'),
  })
}

export default TaskService
