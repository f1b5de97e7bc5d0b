import type { SubagentResult } from './types.ts'

// The texts are the specification's, to the byte.

/** What a model reads of a child that was cancelled, or never came to be for that reason. */
export const cancelledSentence = 'subagent run was cancelled'

const failures: Partial<Record<string, string>> = {
  'aborted': cancelledSentence,
  'error': 'subagent run failed',
  'max-tokens': 'subagent run hit its token limit before finishing',
  'refusal': 'subagent declined the task',
}

/** What a model reads of a child that did not complete, whatever its stop reason, known or not. */
export function failureSentence({ stopReason }: Pick<SubagentResult, 'stopReason'>): string {
  return failures[stopReason] ?? `subagent run ended abnormally (${stopReason})`
}
