/* oxlint-disable unicorn/no-thenable -- a keyword of JSON Schema */
import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { compileOutputSchema, type JsonSchema } from '../src/index.ts'

const report: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    summary: { type: 'string', minLength: 1 },
    findings: { type: 'array', items: { $ref: '#/$defs/finding' } },
    count: { type: 'integer', minimum: 0 },
    verdict: { anyOf: [{ const: 'clean' }, { type: 'object', required: ['why'] }] },
    'a/b~c d': { type: 'string' },
  },
  required: ['summary'],
  additionalProperties: false,
  if: { required: ['findings'] },
  then: { required: ['count'] },
  $defs: {
    finding: {
      type: 'object',
      properties: { severity: { enum: ['low', 'high'] }, on: { type: 'string', format: 'date' } },
      required: ['severity'],
      unevaluatedProperties: false,
    },
  },
}

describe('a schema is refused as INVALID_REQUEST that', () => {
  const refused: [string, unknown, string | RegExp][] = [
    ['is no object', 'object', 'outputSchema must be a JSON Schema as an object'],
    ['is a list', [{ type: 'object' }], 'outputSchema must be a JSON Schema as an object'],
    ['is null', null, 'outputSchema must be a JSON Schema as an object'],
    ['holds what is no JSON', { type: 'object', default: 1n }, 'outputSchema is no JSON'],
    ['says nothing', {}, /^outputSchema must describe an object/],
    ['describes a list', { type: 'array', items: { type: 'string' } }, /^outputSchema must describe an object .*; put any other value into a property of one$/],
    ['describes an object or something else', { type: ['object', 'null'] }, /^outputSchema must describe an object/],
    ['has a type that there is not', { type: 'object', properties: { title: { type: 'strng' } } }, /^outputSchema is no JSON Schema: properties\.title\.type: does not match any of \["array",.*"string"\]$/],
    ['has "required" on a property', { type: 'object', properties: { title: { type: 'string', required: true } } }, 'outputSchema is no JSON Schema: properties.title.required: type "boolean" is invalid, expected "array"'],
    ['has a list of properties', { type: 'object', properties: ['title'] }, /^outputSchema is no JSON Schema: properties: type "array"/],
    ['has a property that is no schema', { type: 'object', properties: { title: 'string' } }, /^outputSchema is no JSON Schema: properties\.title: type "string"/],
    ['has a pattern that is none', { type: 'object', properties: { title: { pattern: '(' } } }, /^outputSchema is no JSON Schema: properties\.title\.pattern/],
    ['has an empty choice', { type: 'object', properties: { title: { enum: [] } } }, /^outputSchema is no JSON Schema: properties\.title\.enum/],
    ['has a wrong schema deep within', { type: 'object', properties: { a: { items: [{ anyOf: [{ maximum: '3' }] }] } } }, /^outputSchema is no JSON Schema: properties\.a\.items\.0\.anyOf\.0\.maximum/],
    ['refers to the web', { type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } }, 'outputSchema refers to "https://example.com/a.json", which is not in it; only references within it work, as "#/$defs/name"'],
    ['refers to a file', { type: 'object', properties: { a: { items: { $ref: 'a.json#/b' } } } }, /^outputSchema refers to "a\.json#\/b"/],
    ['refers to a part that it has not', { type: 'object', properties: { a: { $ref: '#/$defs/a' } } }, /^outputSchema refers to "#\/\$defs\/a"/],
    ['refers by what is not known before a value is there', { type: 'object', properties: { a: { $dynamicRef: '#a' } } }, /properties\.a\.\$dynamicRef: is not allowed/],
    ['leads back to itself', { type: 'object', allOf: [{ $ref: '#' }] }, 'outputSchema leads back to itself without end'],
  ]
  it.each(refused)('%s', (_what, schema, message) => {
    expect(() => compileOutputSchema(schema as JsonSchema)).toThrow(expect.objectContaining({
      name: 'SubagentError', code: 'INVALID_REQUEST', message: typeof message === 'string' ? message : expect.stringMatching(message) as unknown,
    }))
  })
})

describe('a schema is accepted that', () => {
  const accepted: [string, JsonSchema, unknown, unknown][] = [
    ['is TypeBox\'s', Type.Object({ line: Type.Integer() }), { line: 3 }, { line: 'x' }],
    ['has tuples as draft 7 has them', { type: 'object', properties: { at: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false } } }, { at: ['a', 1] }, { at: ['a', 1, 2] }],
    ['has definitions as draft 7 has them', { type: 'object', properties: { a: { $ref: '#/definitions/a' } }, definitions: { a: { type: 'string' } } }, { a: '' }, { a: 1 }],
    ['has keywords and formats that nobody knows', { type: 'object', 'x-of': 'ours', properties: { a: { type: 'integer', format: 'uint32' } } }, { a: 1 }, { a: 1.5 }],
    ['refers by anchor and by its own id', { type: 'object', $id: 'https://example.com/s', properties: { a: { $ref: '#n' }, b: { $ref: 'https://example.com/s#/$defs/n' } }, $defs: { n: { $anchor: 'n', type: 'null' } } }, { a: null, b: null }, { b: 0 }],
    ['describes trees', { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } }, required: ['children'] }, { children: [{ children: [] }] }, { children: [{}] }],
  ]
  it.each(accepted)('%s', (_what, schema, fits, doesNot) => {
    const { misfit } = compileOutputSchema(schema)
    expect(misfit(fits)).toBeUndefined()
    expect(misfit(doesNot)).toBeDefined()
  })
})

describe('a misfit', () => {
  const { misfit } = compileOutputSchema(report)

  it.each<[string, unknown, string, string]>([
    ['a name that is missing', {}, 'summary: is missing', 'summary (required)'],
    ['a wrong type', { summary: 7 }, 'summary: type "number" is invalid, expected "string"', 'summary (type)'],
    ['one within a list', { summary: 's', count: 1, findings: [{ severity: 'low' }, { severity: 'so so' }] }, 'findings.1.severity: does not match any of ["low","high"]', 'findings.1.severity (enum)'],
    ['a name that is missing within a list', { summary: 's', count: 1, findings: [{}] }, 'findings.0.severity: is missing', 'findings.0.severity (required)'],
    ['a format', { summary: 's', count: 1, findings: [{ severity: 'low', on: 'today' }] }, 'findings.0.on: string does not match format "date"', 'findings.0.on (format)'],
    ['what a condition asks for', { summary: 's', findings: [] }, 'count: is missing', 'count (required)'],
    ['a name that is not in the schema', { summary: 's', hush: 1 }, 'hush: is not allowed', '* (not allowed)'],
    ['a name that is not in the schema, within a list', { summary: 's', count: 1, findings: [{ severity: 'low', hush: 1 }] }, 'findings.0.hush: is not allowed', 'findings.0.* (not allowed)'],
    ['a name with odd characters', { summary: 's', 'a/b~c d': 1 }, 'a/b~c d: type "number" is invalid, expected "string"', 'a/b~c d (type)'],
    ['none of several', { summary: 's', verdict: 'meh' }, 'verdict: does not match any subschemas; verdict: does not match "clean"; verdict: type "string" is invalid, expected "object"', 'verdict (anyOf); verdict (const); verdict (type)'],
    ['no object', ['s'], 'the whole: type "array" is invalid, expected "object"', 'the whole (type)'],
  ])('says where: %s', (_what, value, text, places) => {
    expect(misfit(value)).toEqual({ text, places })
  })

  it('names five things, and how many more there are', () => {
    const value = { summary: 's', count: 1, findings: Array.from({ length: 9 }, () => ({})) }
    expect(misfit(value)?.text).toMatch(/^findings\.0\.severity: is missing; .*findings\.4\.severity: is missing; and 4 more$/)
  })

  it('is short, however long the schema\'s choices are', () => {
    const { misfit: ofLong } = compileOutputSchema({ type: 'object', properties: { a: { enum: Array.from({ length: 1000 }, (_, i) => `choice ${i}`) } } })
    expect(ofLong({ a: 'none' })!.text.length).toBeLessThan(400)
  })

  it('is what cannot be checked, too', () => {
    const nest: Record<string, unknown> = {}
    nest['children'] = [nest]
    const { misfit: ofTree } = compileOutputSchema({ type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } })
    expect(ofTree(nest)).toEqual({ text: expect.stringMatching(/^the whole: cannot be checked/) as unknown, places: 'the whole (not checkable)' })
    expect(ofTree(undefined)).toBeDefined()
  })
})

it('compiles a schema object once, and leaves it as it was', () => {
  const schema = { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } }
  const before = JSON.stringify(schema)
  const ready = compileOutputSchema(schema)
  expect(compileOutputSchema(schema)).toBe(ready)
  expect(compileOutputSchema({ ...schema })).not.toBe(ready)
  expect(JSON.stringify(schema)).toBe(before)
  expect(Object.isFrozen(schema)).toBe(false)
  expect(ready.json).toEqual(schema)
  expect(Object.isFrozen((ready.json['$defs'] as { a: object }).a)).toBe(true)
})
