import { isMapping } from './check.ts'
import { ScriptError } from './error.ts'

/** What the templates of a rule stand for, in one request. */
export interface Scope {
  readonly last: string
  readonly results: readonly string[]
  /** Of the rule's `last` pattern. */
  readonly match: RegExpExecArray | undefined
}

export type Template<T> = (scope: Scope) => T

const templates = '{{last}}, {{last.N}}, {{match.N}}, {{match.name}}'

/** `text` with its templates ready. `pattern` is what `{{match.…}}` refers to; `fail` refuses one that stands for nothing. */
export function compileText(text: string, pattern: RegExp | undefined, fail: (sentence: string) => never): Template<string> {
  const pieces = text.split(/\{\{(.*?)\}\}/s)
    .map((piece, n) => n % 2 === 0 ? () => piece : compileName(piece.trim(), pattern, fail))
  return scope => pieces.map(piece => piece(scope)).join('')
}

/** The same for every text inside `value`. Keys stay as they are. */
export function compileValue(value: unknown, pattern: RegExp | undefined, fail: (sentence: string) => never): Template<unknown> {
  if (typeof value === 'string') return compileText(value, pattern, fail)
  if (Array.isArray(value)) {
    const items = value.map(item => compileValue(item, pattern, fail))
    return scope => items.map(item => item(scope))
  }
  if (isMapping(value)) {
    const entries = Object.entries(value).map(([key, item]) => [key, compileValue(item, pattern, fail)] as const)
    return scope => Object.fromEntries(entries.map(([key, item]) => [key, item(scope)]))
  }
  return () => value
}

function compileName(name: string, pattern: RegExp | undefined, fail: (sentence: string) => never): Template<string> {
  if (name === 'last') return ({ last }) => last
  const [, kind, which] = /^(last|match)\.(\w+)$/.exec(name) ?? []
  if (kind === 'match') return compileGroup(which!, pattern, fail)
  if (kind === undefined || !/^\d+$/.test(which!)) fail(`unknown template {{${name}}} (templates: ${templates})`)
  const n = Number(which)
  return ({ results }) => results[n] ?? missing(`{{last.${n}}}`, results.length)
}

function compileGroup(which: string, pattern: RegExp | undefined, fail: (sentence: string) => never): Template<string> {
  if (!pattern) fail(`{{match.${which}}} needs a pattern in when.last, such as /file (\\S+)/`)
  // A pattern that may also match nothing tells which groups it has.
  const groups = new RegExp(`${pattern.source}|`, pattern.flags).exec('')!
  if (/^\d+$/.test(which)) {
    const n = Number(which)
    if (n >= groups.length) fail(`{{match.${n}}} stands for nothing: ${pattern} has ${groups.length - 1} groups`)
    return ({ match }) => match?.[n] ?? ''
  }
  if (!(which in (groups.groups ?? {}))) fail(`{{match.${which}}} stands for nothing: ${pattern} has no group of that name`)
  return ({ match }) => match?.groups?.[which] ?? ''
}

function missing(name: string, count: number): never {
  throw new ScriptError('NO_REPLY', `${name} stands for nothing: the last tool message has ${count} results`)
}
