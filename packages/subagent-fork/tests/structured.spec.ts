import { extendsRequest, type RecordedRequest, toolsOf } from '@offshoot/model-ai-sdk/testing'
import { answerTool } from '@offshoot/subagent'
import { expect, it } from 'vitest'
import { structuredPin } from '../src/wording.ts'
import { App, delegate, isChild, lastOf } from './support.ts'

const outputSchema = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] }
const handOver = { calls: [{ name: 'structured_output', arguments: { count: 3 } }] }

function isStructured(request: RecordedRequest): boolean {
  return toolsOf(request).includes('structured_output')
}

it('a fork with a schema has its tool beside the parent\'s, is told to end with it, and says that the tools moved', async () => {
  await using app = await App.start({ tool: { outputSchema } })
  app.script(request => isChild(request) ? handOver : lastOf(request).role === 'tool' || lastOf(request).content === 'First.' ? { text: 'Fine.' } : { calls: [delegate()] })
  const parent = app.agent()
  await parent.run('First.')
  expect((await parent.run('Second.')).stopReason).toBe('completed')

  const [child] = app.children
  expect(toolsOf(child!)).toEqual([...toolsOf(app.parents[0]!), 'structured_output'].sort())
  expect(lastOf(child!)).toEqual({ role: 'user', content: `${structuredPin}\n\nSum it up.` })
  expect(structuredPin).toMatch(/end with a call of structured_output, which is all that is handed back\.$/)
  expect(structuredPin).not.toContain('plain-text')
  expect(app.started[0]!.seed).toMatchObject({ turns: 1, moved: ['tools'] })
  expect(lastOf(app.parents.at(-1)!)).toMatchObject({ role: 'tool', content: '{"count":3}' })
  expect(app.parents.some(isStructured)).toBe(false)
})

it('a fork of a child with a schema has neither the schema nor its tool: it ends with text, and says that the tools moved', async () => {
  await using app = await App.start()
  const parent = app.agent({ answer: answerTool(outputSchema) })
  app.script(request => {
    if (isChild(request)) return { text: 'The sum.' }
    return lastOf(request).role === 'tool' ? handOver : { calls: [delegate()] }
  })
  const result = await parent.run('Count, and delegate.')

  const [child] = app.children
  expect(isStructured(child!)).toBe(false)
  expect(isStructured(app.parents[0]!)).toBe(true)
  expect(app.ended[0]![1]).toMatchObject({ stopReason: 'completed', output: [{ type: 'text', text: 'The sum.' }] })
  expect(lastOf(app.parents[1]!)).toMatchObject({ role: 'tool', content: 'The sum.' })
  expect(app.started[0]!.seed?.moved).toEqual(['tools'])
  expect(result).toMatchObject({ stopReason: 'completed', structured: { count: 3 } })
})

it('a fork of a child with the same schema keeps its parent\'s prefix', async () => {
  await using app = await App.start({ tool: { outputSchema } })
  const parent = app.agent({ answer: answerTool(outputSchema) })
  app.script(request => isChild(request) || lastOf(request).content === 'First.' || lastOf(request).role === 'tool' ? handOver : { calls: [delegate()] })
  await parent.run('First.')
  await parent.run('Second.')
  expect(extendsRequest(app.parents[0]!, app.children[0]!)).toBe(true)
  expect(app.started[0]!.seed?.moved).toEqual([])
})
