import { textOf } from '@offshoot/session'
import { SubagentError, type SubagentResult } from '@offshoot/subagent'
import type { ToolOutput } from '@offshoot/tools'

const cancelled = 'subagent run was cancelled'

const failures: Partial<Record<string, string>> = {
  'aborted': cancelled,
  'error': 'subagent run failed',
  'max-tokens': 'subagent run hit its token limit before finishing',
  'refusal': 'subagent declined the task',
}

/**
 * What the model reads of a child that ended: its final text, alone.
 *
 * @throws the failure's exact sentence, which becomes `Error: <sentence>`, for any other ending, known or not.
 */
export function renderResult({ stopReason, output }: SubagentResult): ToolOutput {
  if (stopReason !== 'completed') throw new Error(failures[stopReason] ?? `subagent run ended abnormally (${stopReason})`)
  return output.every(block => block.type === 'text') ? textOf(output) : output
}

/** What the model reads where no child came to be. */
export function startFailure(error: unknown): unknown {
  return error instanceof SubagentError && error.code === 'ABORTED' ? new Error(cancelled, { cause: error }) : error
}
