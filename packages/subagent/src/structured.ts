import type { OutputSchema } from './output-schema.ts'
import type { SubagentResult } from './types.ts'

/** A result held to the schema that it was asked for: completed with what fits, and with its JSON for output, or not completed. */
export function structured(result: SubagentResult, schema: OutputSchema): SubagentResult {
  const { structured: value, ...rest } = result
  if (result.stopReason !== 'completed') return rest
  const misfit = value === undefined ? 'there is no structured output' : schema.misfit(value)?.places
  if (misfit !== undefined) return { ...rest, stopReason: 'invalid-output', diagnostic: `the child completed with what does not fit: ${misfit}` }
  return { ...result, output: Object.freeze([Object.freeze({ type: 'text' as const, text: JSON.stringify(value) })]) }
}
