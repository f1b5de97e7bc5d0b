import { textOf } from '@offshoot/session'
import { cancelledSentence, failureSentence, SubagentError, type SubagentResult } from '@offshoot/subagent'
import type { ToolOutput } from '@offshoot/tools'

/** Whether the model also reads what a child that failed had written. */
export type PartialOutput = 'none' | 'append'

const partialHeading = 'What it had written by then, which is incomplete and no result:'

/** The sentence, and after it, where that is asked for and there is any, the child's partial text. */
export function failureText(result: SubagentResult, partialOutput: PartialOutput): string {
  const sentence = failureSentence(result)
  const partial = partialOutput === 'append' ? textOf(result.output) : ''
  return partial.trim() === '' ? sentence : `${sentence}\n\n${partialHeading}\n${partial}`
}

/**
 * What the model reads of a child that ended: its final text, alone.
 *
 * @throws the failure's text, which becomes `Error: <text>`, for any other ending.
 */
export function renderResult(result: SubagentResult, partialOutput: PartialOutput): ToolOutput {
  if (result.stopReason !== 'completed') throw new Error(failureText(result, partialOutput))
  const { output } = result
  return output.every(block => block.type === 'text') ? textOf(output) : output
}

export function wasAborted(error: unknown): boolean {
  return error instanceof SubagentError && error.code === 'ABORTED'
}

/** What the model reads where no child came to be. */
export function startFailure(error: unknown): unknown {
  return wasAborted(error) ? cancelledError(error) : error
}

export function cancelledError(cause: unknown): Error {
  return new Error(cancelledSentence, { cause })
}
