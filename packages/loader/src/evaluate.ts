import type { Context } from 'cordis'
import { describeError } from './describe.ts'
import { formatPath, type Path } from './path.ts'

/** A `!!js` scalar. */
export class JsExpression {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

/** An expression without a usable result, and the environment variables it names that are not set. */
export interface UnsetVariables {
  readonly path: Path
  readonly source: string
  readonly names: readonly string[]
}

export interface Evaluation {
  readonly value: unknown
  readonly unset: readonly UnsetVariables[]
  readonly faults: readonly { readonly message: string, readonly error: unknown }[]
}

// `with` and a direct `eval`: what Cordis's own loader does, so that an expression means the same in both.
// oxlint-disable-next-line no-new-func, typescript/no-implied-eval
const run = new Function('ctx', 'source', 'with (ctx) { return eval(source) }') as (ctx: Context, source: string) => unknown

/** A copy of `value` in which each `!!js` expression has become its result. `key` is where `value` was written. */
export function evaluate(ctx: Context, key: string, value: unknown): Evaluation {
  const unset: UnsetVariables[] = []
  const faults: { message: string, error: unknown }[] = []

  function visit(item: unknown, path: Path): unknown {
    if (Array.isArray(item)) return item.map((inner, index) => visit(inner, [...path, index]))
    if (!(item instanceof JsExpression)) {
      if (typeof item !== 'object' || item === null) return item
      return Object.fromEntries(Object.entries(item).map(([name, inner]) => [name, visit(inner, [...path, name])]))
    }
    const { source } = item
    const names = unsetVariables(source)
    try {
      const result = run(ctx, source)
      // With `?? 'default'` the variable was not needed.
      if (names.length && (result === undefined || Number.isNaN(result))) unset.push({ path, source, names })
      return result
    } catch (error) {
      const message = names.length
        ? explainUnset({ path, source, names }, key)
        : `${formatPath(key, path)}: !!js ${source} throws ${describeError(error)}`
      faults.push({ message, error })
      return undefined
    }
  }

  return { value: visit(value, []), unset, faults }
}

export function explainUnset({ path, source, names }: UnsetVariables, key = 'config'): string {
  const subject = names.length === 1 ? `environment variable ${names[0]} is` : `environment variables ${names.join(', ')} are`
  return `${subject} not set; ${formatPath(key, path)} needs ${names.length === 1 ? 'it' : 'them'} (!!js ${source})`
}

/** Whether a value holds an expression, at any depth. */
export function holdsExpression(value: unknown): boolean {
  if (value instanceof JsExpression) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsExpression)
}

function unsetVariables(source: string): string[] {
  const names = [...source.matchAll(/\bprocess\.env(?:\.([A-Za-z_]\w*)|\[\s*(['"])(.+?)\2\s*\])/g)]
    .map(match => match[1] ?? match[3]!)
  return [...new Set(names)].filter(name => process.env[name] === undefined)
}
