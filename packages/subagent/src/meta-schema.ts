/* oxlint-disable unicorn/no-thenable -- a keyword of JSON Schema */
import type { Schema } from '@cfworker/json-schema'

const schema = { $ref: '#' }
const schemas = { type: 'array', minItems: 1, items: schema } as const
const namedSchemas = { type: 'object', additionalProperties: schema } as const
const names = { type: 'array', items: { type: 'string' } } as const
const regex = { type: 'string', format: 'regex' } as const
const count = { type: 'integer', minimum: 0 } as const
const number = { type: 'number' } as const

/** What a JSON Schema itself has to look like, in the words of drafts 7 to 2020-12. A keyword that it does not know is ignored. */
export const metaSchema: Schema = {
  type: ['object', 'boolean'] as never,
  $defs: { type: { enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] } },
  properties: {
    $id: { type: 'string' },
    $ref: { type: 'string' },
    $dynamicRef: false,
    $defs: namedSchemas,
    definitions: namedSchemas,
    title: { type: 'string' },
    description: { type: 'string' },

    type: { if: { type: 'array' }, then: { minItems: 1, items: { $ref: '#/$defs/type' } }, else: { $ref: '#/$defs/type' } },
    enum: { type: 'array', minItems: 1 },
    not: schema,
    allOf: schemas,
    anyOf: schemas,
    oneOf: schemas,
    if: schema,
    then: schema,
    else: schema,

    properties: namedSchemas,
    patternProperties: { ...namedSchemas, propertyNames: regex },
    additionalProperties: schema,
    unevaluatedProperties: schema,
    propertyNames: schema,
    required: names,
    dependentRequired: { type: 'object', additionalProperties: names },
    dependentSchemas: namedSchemas,
    dependencies: { type: 'object', additionalProperties: { if: { type: 'array' }, then: names, else: schema } },
    minProperties: count,
    maxProperties: count,

    items: { if: { type: 'array' }, then: schemas, else: schema },
    prefixItems: schemas,
    additionalItems: schema,
    unevaluatedItems: schema,
    contains: schema,
    minContains: count,
    maxContains: count,
    minItems: count,
    maxItems: count,
    uniqueItems: { type: 'boolean' },

    minimum: number,
    maximum: number,
    exclusiveMinimum: number,
    exclusiveMaximum: number,
    multipleOf: { type: 'number', exclusiveMinimum: 0 },
    minLength: count,
    maxLength: count,
    pattern: regex,
    format: { type: 'string' },
  },
}
