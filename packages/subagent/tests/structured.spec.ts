import { describe, expect, it } from 'vitest'
import { answerTool, type SubagentResult, type SubagentStartRequest } from '../src/index.ts'
import { ended, idleRun, provider, startApp } from './support.ts'

const schema = { type: 'object', properties: { fit: { type: 'boolean' } }, required: ['fit'] }

/** What `ctx.subagents` makes of a provider's `given`, with and without the schema. */
async function resultOf(given: SubagentResult, request: Partial<SubagentStartRequest> = { outputSchema: schema }): Promise<SubagentResult> {
  const { ctx, start } = await startApp()
  ctx.subagents.registerProvider(provider('one', () => idleRun({ result: Promise.resolve(given) })))
  await using run = await start('one', request)
  return run.result
}

describe('the result of a provider is held to the schema that was asked for:', () => {
  it('completed with what fits is completed, with its JSON for output', async () => {
    const result = await resultOf({ ...ended('completed', 'It fits!'), structured: { fit: true } })
    expect(result).toMatchObject({ stopReason: 'completed', structured: { fit: true }, output: [{ type: 'text', text: '{"fit":true}' }] })
  })

  it('completed without output, and with what fits, is completed', async () => {
    expect(await resultOf({ ...ended('completed'), structured: { fit: false } })).toMatchObject({ stopReason: 'completed', output: [{ text: '{"fit":false}' }] })
  })

  it('completed without a structured output is invalid-output, and keeps its text as partial', async () => {
    const result = await resultOf(ended('completed', '{"fit":true}'))
    expect(result).toMatchObject({ stopReason: 'invalid-output', output: [{ text: '{"fit":true}' }], diagnostic: 'the child completed with what does not fit: there is no structured output' })
  })

  it('completed with what does not fit is invalid-output that says where', async () => {
    const result = await resultOf({ ...ended('completed', 'Sure.'), structured: { fit: 'so so' } })
    expect(result).toMatchObject({ stopReason: 'invalid-output', diagnostic: 'the child completed with what does not fit: fit (type)' })
    expect(result).not.toHaveProperty('structured')
  })

  it('a failure is that failure, and has no structured output', async () => {
    const result = await resultOf({ ...ended('max-tokens', 'Half'), structured: { fit: true } })
    expect(result).toMatchObject({ stopReason: 'max-tokens', output: [{ text: 'Half' }] })
    expect(result).not.toHaveProperty('structured')
  })
})

it('a request that names no schema leaves a result as it is', async () => {
  expect(await resultOf(ended('completed', 'Just text.'), {})).toMatchObject({ stopReason: 'completed', output: [{ text: 'Just text.' }] })
})

describe('the answer tool of a schema', () => {
  it('carries the schema as it is, and is the same tool for the same object', () => {
    const tool = answerTool(schema)
    expect(tool.spec).toMatchObject({ name: 'structured_output', inputSchema: schema })
    expect(answerTool(schema)).toBe(tool)
    expect(answerTool({ ...schema })).not.toBe(tool)
  })
})
