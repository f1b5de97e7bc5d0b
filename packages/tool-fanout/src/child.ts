import type { Agent } from '@offshoot/agent'
import { textOf } from '@offshoot/session'
import { cancelledSentence, failureSentence, SubagentError, type SubagentCore, type SubagentRun, type SubagentStartRequest } from '@offshoot/subagent'
import type { Task, TaskCore, TaskOutcome } from '@offshoot/tasks'
import type { Worktree } from '@offshoot/worktree'
import type { FanoutResult } from './types.ts'

export type WorktreePolicy = 'keep' | 'release-if-clean'

export interface ChildOptions {
  readonly id: string
  readonly provider: string
  readonly request: Omit<SubagentStartRequest, 'signal' | 'tool'>
  /** The call that asked, where a model did. */
  readonly tool?: { readonly name: string, readonly callId: string } | undefined
  readonly worktree: Worktree | undefined
  readonly policy: WorktreePolicy
}

/** One child, from its spawn until nobody needs its result any more. It runs as a task of its parent, whose outcome somebody collects. */
export class Child {
  readonly id: string
  readonly owner: Agent
  readonly worktree: Worktree | undefined
  readonly task: Task
  private readonly options: ChildOptions
  private readonly subagents: SubagentCore
  private run: SubagentRun | undefined
  private result: FanoutResult | undefined

  constructor(tasks: TaskCore, subagents: SubagentCore, options: ChildOptions) {
    this.id = options.id
    this.owner = options.request.parent
    this.worktree = options.worktree
    this.options = options
    this.subagents = subagents
    this.task = tasks.start({
      kind: 'fanout', label: options.request.label ?? options.id, owner: this.owner, notice: 'none', counts: false,
      activity: () => this.run?.progress,
      run: (signal, task) => this.work(signal, task),
    })
  }

  /** How it ended, once its task has settled. A task that was given up has no result of its own. */
  get ended(): FanoutResult | undefined {
    const { outcome } = this.task
    if (this.result || !outcome) return this.result
    const summary = outcome.status === 'failed' ? outcome.error : outcome.status === 'killed' ? cancelledSentence : outcome.output
    return { subagentId: this.id, summary, exitOk: false, stopReason: outcome.status === 'killed' ? 'aborted' : 'error', ...this.place() }
  }

  private async work(signal: AbortSignal, task: Task): Promise<TaskOutcome> {
    const { provider, request, tool } = this.options
    let ended: Pick<FanoutResult, 'summary' | 'exitOk' | 'stopReason'>
    try {
      this.run = await this.subagents.start(provider, { ...request, signal, ...tool ? { tool: { ...tool, taskId: task.id } } : {} })
      const result = await this.run.result
      try {
        await this.run.dispose()
      } catch (error) {
        // A child that was cancelled and did not stop was not killed. Any other outcome stands: the failure is in the log.
        if (result.stopReason === 'aborted') throw error
      }
      const exitOk = result.stopReason === 'completed'
      ended = { exitOk, stopReason: result.stopReason, summary: exitOk ? textOf(result.output) : failureSentence(result) }
    } catch (error) {
      const isAbort = error instanceof SubagentError && error.code === 'ABORTED'
      ended = { exitOk: false, stopReason: isAbort ? 'aborted' : 'error', summary: isAbort ? cancelledSentence : error instanceof Error ? error.message : String(error) }
    }
    this.result = { subagentId: this.id, ...ended, ...await this.left() }
    if (ended.exitOk) return { status: 'completed', output: ended.summary }
    return ended.stopReason === 'aborted' ? { status: 'killed' } : { status: 'failed', error: ended.summary }
  }

  /** What it leaves in its worktree. That git cannot tell is no failure of the child. */
  private async left(): Promise<Partial<FanoutResult>> {
    const { worktree, options: { policy } } = this
    if (!worktree) return {}
    const changes = await worktree.changes().catch(() => undefined)
    const released = policy === 'release-if-clean' && (await worktree.release().catch(() => undefined))?.released === true
    return { ...this.place(), ...changes ? { changes } : {}, worktreeReleased: released }
  }

  private place(): Partial<FanoutResult> {
    const { worktree } = this
    return worktree ? { worktreePath: worktree.path, ...worktree.branch === undefined ? {} : { worktreeBranch: worktree.branch } } : {}
  }
}
