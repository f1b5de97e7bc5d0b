import { textOf } from '@offshoot/session'
import assert from 'node:assert/strict'
import type { SubagentResult, SubagentStartRequest } from '../types.ts'
import type { ConformanceApp } from './app.ts'
import type { ChildBehaviour } from './children.ts'
import type { ProviderPromise } from './promises.ts'

/** The schema that the suite asks for. */
export const verdict = {
  type: 'object',
  properties: { fit: { type: 'boolean' }, places: { type: 'array', items: { type: 'object', properties: { line: { type: 'integer' } } } } },
  required: ['fit'],
}

/** Structured output, of providers that have the capability: design promise 7, for what a schema asks for. */
export const structured: ProviderPromise[] = [
  {
    title: 'what a child hands over completes it, as it is and frozen, where it fits the schema',
    async check(app) {
      const value = { fit: true, places: [{ line: 7 }, { line: 12 }] }
      const result = await ending(app, { kind: 'structured', value })
      if (!result) return
      assert.equal(result.stopReason, 'completed', result.diagnostic)
      assert.deepEqual(result.structured, value)
      assert.ok(Object.isFrozen(result.structured), 'the structured output is not frozen')
    },
  },
  {
    title: 'what does not fit the schema ends with invalid-output that says where, never completed',
    async check(app) {
      const result = await ending(app, { kind: 'structured', value: { fit: true, places: [{ line: 'the seventh' }] } })
      if (!result) return
      assert.equal(result.stopReason, 'invalid-output')
      assert.equal(result.structured, undefined, 'what does not fit is handed on as if it did')
      assert.match(result.diagnostic ?? '', /places\.0\.line/, 'the diagnostic does not say where')
      assert.doesNotMatch(result.diagnostic ?? '', /seventh/, 'the diagnostic holds the child\'s words')
    },
  },
  {
    title: 'a child with a schema that only writes text ends with invalid-output, never completed',
    async check(app) {
      const result = await ending(app, { kind: 'answer', text: '{"fit": true}' })
      if (!result) return
      assert.equal(result.stopReason, 'invalid-output')
      assert.equal(textOf(result.output), '{"fit": true}', 'the partial text is lost')
    },
  },
  {
    title: 'a tool filter does not keep a child from handing over',
    async check(app) {
      if (!app.provider.capabilities.toolFilter) return
      const result = await ending(app, { kind: 'structured', value: { fit: false } }, { toolFilter: { allow: [] } })
      if (!result) return
      assert.equal(result.stopReason, 'completed', result.diagnostic)
      assert.deepEqual(result.structured, { fit: false })
    },
  },
]

/** How a child that has the schema ends by itself, past the service that would cover for its provider; `undefined` where no child can have one. */
async function ending(app: ConformanceApp, behaviour: ChildBehaviour, overrides: Partial<SubagentStartRequest> = {}): Promise<SubagentResult | undefined> {
  if (!app.provider.capabilities.outputSchema) return undefined
  await app.children.behave(behaviour)
  const run = await app.startRaw({ outputSchema: verdict, ...overrides })
  run.begin?.()
  const result = await app.resultOf(run)
  await app.within(run.dispose(), 'dispose() to settle')
  return result
}
