import { textOf } from '@offshoot/session'
import type { SubagentCore, SubagentRun, SubagentStartRequest } from '@offshoot/subagent'
import type { Task, TaskCore, TaskOutcome } from '@offshoot/tasks'
import { failureText, type PartialOutput, wasAborted } from './render.ts'

/** What a background start needs: everything but the signal, which is the task's own. */
export type BackgroundRequest = Omit<SubagentStartRequest, 'signal' | 'tool'> & { readonly tool: { readonly name: string, readonly callId: string } }

/** What of a child's output is the task's. */
export interface Reading {
  readonly partialOutput: PartialOutput
  /** `text`, as much of it as the owner's model may read. */
  readonly capped: (text: string) => string
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
      let run: SubagentRun
      try {
        run = await subagents.start(provider, { ...request, signal, tool: { ...request.tool, taskId: task.id } })
      } catch (error) {
        return wasAborted(error) ? { status: 'killed' } : { status: 'failed', error: messageOf(error) }
      }
      child = run
      return outcomeOf(run, reading)
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
