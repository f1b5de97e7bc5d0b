import type { OutputUnit } from '@cfworker/json-schema'

/** Why a value does not fit its schema: the first few reasons, in one line each. */
export interface Misfit {
  /** What is wrong, and where: `findings.0.title: is missing`. For whoever wrote the value: it may quote it. */
  readonly text: string
  /** Where, and by which keyword: `findings.0.title (required)`. Nothing of the value is in it: a name that the schema does not have is `*`. */
  readonly places: string
}

/** They only say that something within them does not fit. */
const wrappers = new Set([
  '$ref', '$recursiveRef', 'allOf', 'if', 'properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'propertyNames',
  'dependentSchemas', 'items', 'prefixItems', 'additionalItems', 'unevaluatedItems',
])

const mostReasons = 5
const longestReason = 300

/** `errors` as the library reports them, and the property names that the schema has. */
export function misfitFrom(errors: readonly OutputUnit[], names: ReadonlySet<string>): Misfit | undefined {
  const telling = errors.filter(({ keyword }) => !wrappers.has(keyword))
  // What has a fault of its own counts as unevaluated, and so as not allowed, which is the lesser half of it.
  const faults = telling.filter(({ keyword }) => keyword !== 'false').map(({ instanceLocation }) => `${instanceLocation}/`)
  const reasons = telling
    .filter(({ keyword, instanceLocation }) => keyword !== 'false' || !faults.some(fault => fault.startsWith(`${instanceLocation}/`)))
    .map(error => reasonOf(error, names))
  if (reasons.length === 0) return undefined
  return { text: inOneLine(reasons.map(({ text }) => text)), places: inOneLine(reasons.map(({ place }) => place)) }
}

function reasonOf({ keyword, instanceLocation, error }: OutputUnit, names: ReadonlySet<string>): { text: string, place: string } {
  const path = instanceLocation.split('/').slice(1).map(part => decodeURI(part).replaceAll('~1', '/').replaceAll('~0', '~'))
  const missing = keyword === 'required' ? /required property "(.*)"\.$/s.exec(error)?.[1] : undefined
  if (missing !== undefined) path.push(missing)
  const known = path.map(part => /^\d+$/.test(part) || names.has(part) ? part : '*')
  return {
    text: `${dotted(path)}: ${missing === undefined ? plain(keyword, error) : 'is missing'}`,
    place: `${dotted(known)} (${keyword === 'false' ? 'not allowed' : keyword})`,
  }
}

function dotted(path: readonly string[]): string {
  return path.join('.') || 'the whole'
}

function plain(keyword: string, error: string): string {
  if (keyword === 'false') return 'is not allowed'
  const text = error.replace(/^Instance /, '').replace(/\.$/, '').replace('. Expected', ', expected')
  return text.charAt(0).toLowerCase() + text.slice(1)
}

function inOneLine(texts: readonly string[]): string {
  const all = [...new Set(texts)]
  const more = all.length - mostReasons
  const shown = all.slice(0, mostReasons).map(text => text.length > longestReason ? `${text.slice(0, longestReason)}…` : text)
  return shown.join('; ') + (more > 0 ? `; and ${more} more` : '')
}
