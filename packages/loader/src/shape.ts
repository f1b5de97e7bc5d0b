import { nearest, suggest } from '@offshoot/problems'
import { isMap, isSeq, type Pair } from './bundled/yaml.ts'
import { type Entry, ENTRY_KEYS, type EntryKey, labelEntry, type Position } from './entry.ts'
import { holdsExpression, JsExpression } from './evaluate.ts'
import type { Findings } from './findings.ts'
import { kindOf, type Source } from './source.ts'

type Draft = Omit<Entry, 'id' | 'children'> & { id: string | undefined, children?: Draft[] }

interface Value {
  readonly js: unknown
  readonly node: unknown
}

type Values = Partial<Record<EntryKey, Value>>

/** What each key may hold; a key that is not here may hold anything. */
const EXPECTED: Partial<Record<EntryKey, readonly [accepts: (value: unknown) => boolean, what: string]>> = {
  id: [value => isText(value) || typeof value === 'number', 'a word'],
  name: [isText, 'a package name, or a path that starts with "./"'],
  group: [value => value === null || typeof value === 'boolean', 'true or false'],
  disabled: [value => value === null || typeof value === 'boolean' || value instanceof JsExpression, 'true, false or a !!js expression'],
  inject: [value => value === null || isRecord(value) || Array.isArray(value) && value.every(isText), 'a list of service names'],
  isolate: [value => value === null || isRecord(value) && Object.values(value).every(label => label === true || isText(label)), 'a mapping from service names to true or a label'],
  intercept: [value => value === null || isRecord(value), 'a mapping from service names to their config'],
}

/** The entries of a file in which each has the right shape; the others are reported. */
export function readEntries(source: Source, findings: Findings): Entry[] {
  const root = source.document.contents
  return root === null ? [] : identify(readList(root), findings)

  function readList(node: unknown): Draft[] {
    const list = source.resolve(node)
    if (isSeq(list)) return list.items.flatMap(item => readEntry(item) ?? [])
    findings.addAt(source.at(node), `expected a list of entries ("- name: …"), not ${kindOf(list)}`)
    return []
  }

  function readEntry(item: unknown): Draft | undefined {
    const at = source.at(item)
    const map = source.resolve(item)
    if (!isMap(map)) {
      findings.addAt(at, `an entry is a mapping with a "name" ("- name: …"), not ${kindOf(map)}`)
      return undefined
    }
    const value: Values = {}
    const sound = map.items.map(pair => readPair(pair, value)).every(Boolean)
    if (!('name' in value)) findings.addAt(at, 'an entry needs a "name": a package name, or a path that starts with "./"')
    const children = value.group?.js === true ? readChildren(value.config) : undefined
    return sound && value.name ? draft(at, value, children) : undefined
  }

  function readChildren(config: Value | undefined): Draft[] {
    return config === undefined || config.js === null ? [] : readList(config.node)
  }

  /** Takes a pair over into `value`. False where the entry cannot be used with it. */
  function readPair(pair: Pair, value: Values): boolean {
    const written = String(source.toJS(pair.key))
    // A misspelt key counts as the one that was meant: its absence is no problem of its own.
    const key = isEntryKey(written) ? written : nearest(written, ENTRY_KEYS.filter(known => !(known in value))) as EntryKey | undefined
    if (key !== written) findings.addAt(source.at(pair.key), `unknown entry key "${written}"${suggest(written, ENTRY_KEYS, 'entry keys')}`)
    if (key === undefined) return true

    const js = source.toJS(pair.value) ?? null
    value[key] = { js, node: pair.value }
    const place = source.at(pair.value ?? pair.key)
    if (key !== 'config' && key !== 'disabled' && holdsExpression(js)) {
      findings.addAt(place, `"${key}" of an entry is taken as written; !!js works in "config" and "disabled" only`)
      return false
    }
    const expected = EXPECTED[key]
    if (!expected || expected[0](js)) return true
    findings.addAt(place, `"${key}" of an entry must be ${expected[1]}, not ${kindOf(source.resolve(pair.value))}`)
    return false
  }
}

function draft(at: Position, value: Values, children: Draft[] | undefined): Draft {
  const inject = value.inject?.js as string[] | Record<string, unknown> | null | undefined
  return {
    at,
    id: value.id && String(value.id.js),
    hasOwnId: value.id !== undefined,
    name: String(value.name?.js),
    config: value.config?.js,
    disabled: value.disabled?.js,
    inject: Array.isArray(inject) ? Object.fromEntries(inject.map(name => [name, null])) : inject ?? {},
    isolate: (value.isolate?.js ?? {}) as Record<string, true | string>,
    intercept: (value.intercept?.js ?? {}) as Record<string, unknown>,
    ...(children ? { children } : {}),
  }
}

/** An entry without an id goes by its name, numbered from the second on. */
function identify(drafts: Draft[], findings: Findings): Entry[] {
  const taken = new Map<string, Draft>()
  const later: Draft[] = []
  walk(drafts, (entry) => {
    if (entry.id === undefined) return
    const first = taken.get(entry.id)
    if (first) later.push(entry)
    else taken.set(entry.id, entry)
  })
  walk(drafts, (entry) => {
    if (entry.id !== undefined) return
    let id = entry.name
    for (let n = 2; taken.has(id); n++) id = `${entry.name}#${n}`
    entry.id = id
    taken.set(id, entry)
  })
  for (const entry of later as Entry[]) {
    const first = taken.get(entry.id) as Entry
    findings.addToEntry(entry, `its id is already taken by ${labelEntry(first)} at ${findings.where(first.at)}; give one of the two another id`)
  }
  return drafts as Entry[]
}

function walk(drafts: readonly Draft[], visit: (entry: Draft) => void): void {
  for (const entry of drafts) {
    visit(entry)
    if (entry.children) walk(entry.children, visit)
  }
}

function isEntryKey(key: string): key is EntryKey {
  return (ENTRY_KEYS as readonly string[]).includes(key)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsExpression)
}
