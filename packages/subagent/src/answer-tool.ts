import type { AnswerTool } from '@offshoot/agent'
import { compileOutputSchema, type JsonSchema, type OutputSchema } from './output-schema.ts'

/** What a child of this process calls to hand over its structured output. */
export const answerToolName = 'structured_output'

const description = 'Hand over your final answer. The task is done only once you have called this: end with this call, with the whole answer in its arguments, in place of a final text. Text is not handed over. Call it once, when the work is done; nothing comes after it.'

const made = new WeakMap<OutputSchema, AnswerTool>()

/**
 * The tool by which a child of this process hands over what `schema` describes: its agent's `answer`. The same one for the
 * same schema object.
 *
 * @throws {SubagentError} `INVALID_REQUEST` for a schema that cannot be used.
 */
export function answerTool(schema: JsonSchema): AnswerTool {
  const compiled = compileOutputSchema(schema)
  let tool = made.get(compiled)
  if (!tool) made.set(compiled, tool = make(compiled))
  return tool
}

function make({ json, misfit }: OutputSchema): AnswerTool {
  return {
    name: answerToolName,
    concurrency: 'parallel',
    effect: 'read',
    spec: Object.freeze({ type: 'function' as const, name: answerToolName, description, inputSchema: json }),
    check: args => misfit(args)?.text,
    whereWrong: args => misfit(args)?.places ?? '',
    execute: () => 'Handed over.',
  }
}
