import type { Plugin } from 'cordis'
import type { Path } from './path.ts'

export type StandardSchema = NonNullable<Plugin.Base['Config']>

/** What a schemastery schema shows of itself. */
export interface Schema extends StandardSchema {
  readonly type: string
  readonly meta: { readonly required?: boolean, readonly loose?: boolean, readonly role?: string, readonly default?: unknown }
  readonly dict?: Readonly<Record<string, Schema>>
  readonly inner?: Schema
  readonly list?: readonly Schema[]
  readonly builder?: () => Schema
  toString(inline?: boolean): string
}

export interface Issue {
  readonly path: Path
  readonly message: string
}

export function isSchemastery(schema: StandardSchema): schema is Schema {
  return schema['~standard'].vendor === 'schemastery'
}

/** What a schema itself has to say; schemastery stops at the first issue. */
export function check(schema: StandardSchema, value: unknown): readonly Issue[] {
  // Validating may write to its input.
  const result = schema['~standard'].validate(copy(value))
  if ('then' in result) return [{ path: [], message: 'its Config validates asynchronously, which Cordis does not support' }]
  return (result.issues ?? []).map(({ message, path = [] }) => ({
    message: message.replace(/^\$\S* /, ''),
    path: path.map(part => typeof part === 'object' ? part.key : part),
  }))
}

/** The schema behind `lazy` and `transform`. */
export function unwrap(schema: Schema): Schema {
  if (schema.type === 'lazy' && schema.builder) return unwrap(schema.builder())
  if (schema.type === 'transform' && schema.inner) return unwrap(schema.inner)
  return schema
}

/** The schemas of what a value holds, for a schema that has such and a value that fits its kind. */
export function parts(schema: Schema, value: unknown): { key: PropertyKey, schema: Schema, value: unknown }[] | undefined {
  if (Array.isArray(value)) {
    const { type, inner, list } = schema
    if (type === 'array' && inner) return value.map((item, key) => ({ key, schema: inner, value: item as unknown }))
    if (type === 'tuple' && list) return list.map((member, key) => ({ key, schema: member, value: value[key] as unknown }))
    return undefined
  }
  if (!isRecord(value)) return undefined
  const { type, dict, inner } = schema
  if (type === 'object' && dict) return Object.entries(dict).map(([key, member]) => ({ key, schema: member, value: value[key] }))
  if (type === 'dict' && inner) return Object.entries(value).map(([key, item]) => ({ key, schema: inner, value: item }))
  return undefined
}

/** The members of a union that are of the kind of `value`: objects for an object, arrays for an array. */
export function membersLike(schema: Schema, value: unknown): Schema[] {
  return (schema.list ?? []).map(unwrap).filter(member => parts(member, value) || member.type === 'intersect' && isRecord(value))
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy)
  return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item)])) : value
}
