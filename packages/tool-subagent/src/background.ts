import { textOf } from '@offshoot/session'
import type { SubagentCore, SubagentRun, SubagentStartRequest } from '@offshoot/subagent'
import type { Task, TaskCore, TaskOutcome } from '@offshoot/tasks'
import type { WorktreeCore } from '@offshoot/worktree'
import { type Isolation, isolate } from './isolation.ts'
import { failureText, type PartialOutput, wasAborted } from './render.ts'

/** What a background start needs: everything but the signal, which is the task's own. */
export type BackgroundRequest = Omit<SubagentStartRequest, 'signal' | 'tool'> & { readonly tool: { readonly name: string, readonly callId: string } }

/** What of a child's output is the task's. */
export interface Reading {
  readonly partialOutput: PartialOutput
  /** `text`, as much of it as the owner's model may read. */
  readonly capped: (text: string) => string
  /** There where the child is to be isolated. */
  readonly worktrees: WorktreeCore | undefined
}

/**
 * Run a child as a task of the calling agent. The task is there before the provider is asked; it settles
 * after the start was undone, or the child disposed.
 *
 * @throws {TaskError} `OWNER_LIMIT`, with no child started.
 */
export function startInBackground(tasks: TaskCore, subagents: SubagentCore, provider: string, request: BackgroundRequest, reading: Reading): Task {
  let child: SubagentRun | undefined
  return tasks.start({
    kind: 'subagent',
    label: request.label ?? provider,
    owner: request.parent,
    activity: () => child?.progress,
    async run(signal, task) {
      const started = { ...request, signal, tool: { ...request.tool, taskId: task.id } }
      const work = async (cwd?: string): Promise<TaskOutcome> => {
        try {
          child = await subagents.start(provider, cwd === undefined ? started : { ...started, cwd })
        } catch (error) {
          return wasAborted(error) ? { status: 'killed' } : { status: 'failed', error: messageOf(error) }
        }
        return outcomeOf(child, reading)
      }
      return reading.worktrees ? workIsolated(reading.worktrees, request.parent, signal, work) : work()
    },
  })
}

async function outcomeOf(run: SubagentRun, { partialOutput, capped }: Reading): Promise<TaskOutcome> {
  const result = await run.result
  try {
    await run.dispose()
  } catch (error) {
    // A child that was cancelled and did not stop was not killed. Any other outcome stands: the failure is in the log.
    if (result.stopReason === 'aborted') return { status: 'failed', error: messageOf(error) }
  }
  if (result.stopReason === 'completed') return { status: 'completed', output: capped(textOf(result.output)) }
  return result.stopReason === 'aborted' ? { status: 'killed' } : { status: 'failed', error: capped(failureText(result, partialOutput)) }
}

async function workIsolated(worktrees: WorktreeCore, parent: BackgroundRequest['parent'], signal: AbortSignal, work: (cwd: string) => Promise<TaskOutcome>): Promise<TaskOutcome> {
  let isolation: Isolation
  try {
    isolation = await isolate(worktrees, parent, signal)
  } catch (error) {
    return signal.aborted ? { status: 'killed' } : { status: 'failed', error: messageOf(error) }
  }
  const outcome = await work(isolation.cwd)
  return withBlock(outcome, await isolation.end())
}

/** What the owner reads also says what is in the worktree. */
function withBlock(outcome: TaskOutcome, block: string): TaskOutcome {
  switch (outcome.status) {
    case 'completed':
      return { status: 'completed', output: `${outcome.output}\n\n${block}` }
    case 'failed':
      return { status: 'failed', error: `${outcome.error}\n\n${block}` }
    case 'killed':
      return outcome
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
