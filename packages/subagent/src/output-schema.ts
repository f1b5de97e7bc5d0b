import type * as library from '@cfworker/json-schema'
import { deepFreeze } from '@offshoot/session'
import { createRequire } from 'node:module'
import { SubagentError } from './error.ts'
import { metaSchema } from './meta-schema.ts'
import { type Misfit, misfitFrom } from './misfit.ts'

/** A JSON Schema as an object. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A schema made ready. */
export interface OutputSchema {
  /** As plain JSON, deeply frozen. */
  readonly json: JsonSchema
  /** Why `value` does not fit, or `undefined`. It does not throw. */
  readonly misfit: (value: unknown) => Misfit | undefined
}

const compiled = new WeakMap<object, OutputSchema>()

/**
 * The schema of a structured output, made ready: once for each object.
 *
 * @throws {SubagentError} `INVALID_REQUEST` for what is no JSON Schema, does not describe an object, or refers outside itself.
 */
export function compileOutputSchema(schema: JsonSchema): OutputSchema {
  let ready = isObject(schema) ? compiled.get(schema) : undefined
  if (!ready) compiled.set(schema, ready = compile(schema))
  return ready
}

function compile(schema: unknown): OutputSchema {
  const json = plainJson(schema)
  const wrong = misfitOf(json, metaSchema)
  if (wrong) throw invalid(`is no JSON Schema: ${wrong.text}`)
  if (json['type'] !== 'object') throw invalid('must describe an object ({"type": "object", "properties": …}); put any other value into a property of one')
  // The library writes into what it reads, so the copy that models are shown is another one.
  const { root, lookup, all, names } = schemasIn(structuredClone(json))
  for (const { $ref, __absolute_ref__: target } of all) {
    if (target !== undefined && lookup[target] === undefined) {
      throw invalid(`refers to "${$ref}", which is not in it; only references within it work, as "#/$defs/name"`)
    }
  }
  const misfit = (value: unknown): Misfit | undefined => misfitOf(value, root, lookup, names)
  if (misfit({})?.places === uncheckable) throw invalid('leads back to itself without end')
  return { json: deepFreeze(json), misfit }
}

function plainJson(schema: unknown): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(JSON.stringify(schema))
    if (isObject(json)) return json
  } catch (cause) {
    throw invalid('is no JSON', cause)
  }
  throw invalid('must be a JSON Schema as an object')
}

type Lookup = ReturnType<typeof library.dereference>

interface Schemas {
  readonly root: library.Schema
  readonly lookup: Lookup
  readonly all: readonly library.Schema[]
  /** Of the properties that they name. */
  readonly names: ReadonlySet<string>
}

function schemasIn(root: library.Schema): Schemas {
  let lookup: Lookup
  try {
    lookup = load().dereference(root)
  } catch (cause) {
    throw invalid(`cannot be used: ${messageOf(cause)}`, cause)
  }
  const all = Object.values(lookup).filter(each => typeof each === 'object')
  const names = new Set(all.flatMap(({ properties, required }) => [...Object.keys(properties ?? {}), ...required ?? []]))
  return { root, lookup, all, names }
}

const noNames: ReadonlySet<string> = new Set()

const uncheckable = 'the whole (not checkable)'

function misfitOf(value: unknown, schema: library.Schema, lookup?: Lookup, names = noNames): Misfit | undefined {
  try {
    const { errors } = load().validate(value, schema, '2020-12', lookup, false)
    return misfitFrom(errors, names)
  } catch (error) {
    // No JSON, nested without end, or by a part of the schema that leads back to itself.
    return { text: `the whole: cannot be checked (${messageOf(error)})`, places: uncheckable }
  }
}

let loaded: typeof library | undefined

// Most apps have no schema, and loading this is a tenth of a command's start. A start does not wait: a fork is taken at the call.
function load(): typeof library {
  return loaded ??= createRequire(import.meta.url)('@cfworker/json-schema') as typeof library
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(what: string, cause?: unknown): SubagentError {
  return new SubagentError('INVALID_REQUEST', `outputSchema ${what}`, { cause })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.split('\n')[0]! : String(error)
}
