import { inspect } from 'node:util'
import { nearest, suggest } from '@offshoot/problems'
import { explainUnset, type UnsetVariables } from './evaluate.ts'
import { formatPath, joinPath, overlaps, type Path } from './path.ts'
import { check, type Issue, isRecord, isSchemastery, membersLike, parts, type Schema, type StandardSchema, unwrap } from './schema.ts'

export interface Verdict {
  /** Whether the plugin can run with this config. Unknown keys mean nothing to it, and do not stop it. */
  readonly usable: boolean
  /** All that is wrong, one line each. */
  readonly problems: readonly string[]
}

/** Judges a config by the plugin's `Config`. A plugin without one takes anything. */
export function validate(schema: StandardSchema | undefined, config: unknown, unset: readonly UnsetVariables[]): Verdict {
  if (!schema) return { usable: true, problems: [] }
  const issues = findIssues(schema, config)
  const unknown = isSchemastery(schema) ? [...unknownKeys(schema, config, []).values()] : []
  const misspelt = new Set(unknown.map(meantKey))
  // A required key that was misspelt is one mistake, and the line about the unknown key says it.
  const stated = issues.filter(issue => !isMissing(issue) || !misspelt.has(joinPath(issue.path)))
  const problems = [...stated.map(issue => explain(issue, unset)), ...unknown.map(describeUnknown)]
  return { usable: issues.length === 0, problems: [...new Set(problems)] }
}

function explain(issue: Issue, unset: readonly UnsetVariables[]): string {
  const { path, message } = issue
  const cause = unset.find(({ path: read }) => path.length > 0 && overlaps(read, path))
  if (cause) return explainUnset(cause)
  if (!isMissing(issue)) return `${formatPath('config', path)}: ${message}`
  return `missing ${formatPath('config', path)}${message.slice(MISSING.length)}`
}

function findIssues(schema: StandardSchema, value: unknown): readonly Issue[] {
  if (typeof schema['~standard']?.validate !== 'function') return [{ path: [], message: 'the plugin\'s Config is no Standard Schema' }]
  return isSchemastery(schema) ? walk(schema, value, []) : check(schema, value)
}

/** Every issue of a schemastery schema, where the schema alone would stop at the first. */
function walk(schema: Schema, value: unknown, path: Path): Issue[] {
  const shape = unwrap(schema)
  if (!schema.meta.loose && !(schema.meta.required && isNullish(value))) {
    const inner = walkParts(shape, value ?? shape.meta.default, path)
    if (inner.length) return inner
  }
  return check(schema, value).map(issue => ({
    path: [...path, ...issue.path],
    message: issue.path.length ? issue.message : reword(issue.message, schema, value),
  }))
}

function walkParts(schema: Schema, value: unknown, path: Path): Issue[] {
  if (schema.type === 'intersect') return (schema.list ?? []).flatMap(member => walk(member, value, path))
  if (schema.type === 'union') {
    // An object or list that only one member can be meant for is judged by that member.
    const [only, ...others] = membersLike(schema, value)
    return only && others.length === 0 ? walk(only, value, path) : []
  }
  return (parts(schema, value) ?? []).flatMap(part => walk(part.schema, part.value, [...path, part.key]))
}

function reword(message: string, schema: Schema, value: unknown): string {
  if (message === MISSING) return `${MISSING}; expected ${unwrap(schema).toString(true)}`
  const [, expected] = /^(expected .+) but got /s.exec(message) ?? []
  if (expected === undefined) return message
  return `${expected} but got ${schema.meta.role === 'secret' ? `another ${typeof value}` : show(value)}`
}

function show(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : inspect(value, { depth: 1, breakLength: Infinity })
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

function isNullish(value: unknown): value is null | undefined {
  return value === null || value === undefined
}

// What schemastery says where a required key is absent.
const MISSING = 'missing required value'

function isMissing({ message }: Issue): boolean {
  return message.startsWith(MISSING)
}

interface UnknownKey {
  readonly path: Path
  readonly known: ReadonlySet<string>
}

function describeUnknown({ path, known }: UnknownKey): string {
  return `unknown ${formatPath('config', path)}${suggest(String(path.at(-1)), known, 'keys')}`
}

function meantKey({ path, known }: UnknownKey): string {
  const meant = nearest(String(path.at(-1)), known)
  return joinPath([...path.slice(0, -1), meant ?? ''])
}

/** Keys in a valid place that no schema names; schemastery lets them pass. */
function unknownKeys(schema: Schema, value: unknown, path: Path): Map<string, UnknownKey> {
  const shape = unwrap(schema)
  if (shape.type === 'intersect') return inAll((shape.list ?? []).map(member => unknownKeys(member, value, path)))
  if (shape.type === 'union') {
    const accepting = (shape.list ?? []).filter(member => check(member, value).length === 0)
    return inAll((accepting.length ? accepting : membersLike(shape, value)).map(member => unknownKeys(member, value, path)))
  }
  const found = new Map<string, UnknownKey>()
  if (shape.type === 'object' && isRecord(value)) {
    const known = new Set(Object.keys(shape.dict ?? {}))
    for (const key of Object.keys(value).filter(name => !known.has(name))) {
      found.set(joinPath([...path, key]), { path: [...path, key], known })
    }
  }
  for (const part of parts(shape, value) ?? []) {
    for (const [key, unknown] of unknownKeys(part.schema, part.value, [...path, part.key])) found.set(key, unknown)
  }
  return found
}

/** What every member finds unknown; the known keys are those of all of them. */
function inAll(members: readonly Map<string, UnknownKey>[]): Map<string, UnknownKey> {
  const [first = new Map<string, UnknownKey>(), ...others] = members
  const shared = [...first].filter(([key]) => others.every(other => other.has(key)))
  return new Map(shared.map(([key, { path }]) => {
    const known = members.flatMap(member => [...member.get(key)?.known ?? []])
    return [key, { path, known: new Set(known) }]
  }))
}
