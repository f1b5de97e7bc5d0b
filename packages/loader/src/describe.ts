const BUILT_IN = new Set(['TypeError', 'ReferenceError', 'SyntaxError', 'RangeError', 'EvalError', 'URIError'])

/** One line for what was thrown: the first of its message, with the name of the error where that says something. */
export function describeError(error: unknown): string {
  if (!isErrorLike(error)) return firstLine(String(error)) || 'unknown error'
  if (error.errors?.length && !error.message) return error.errors.map(describeError).join('; ')
  const name = error.name ?? 'Error'
  const line = firstLine(error.message)
  if (!line) return name
  return BUILT_IN.has(name) ? `${name}: ${line}` : line
}

/** `error`, what caused it, and what it gathers. */
export function errorChain(error: unknown, chain: Set<object> = new Set()): Set<object> {
  if (typeof error !== 'object' || error === null || chain.has(error)) return chain
  chain.add(error)
  const { cause, errors } = error as { cause?: unknown, errors?: unknown }
  errorChain(cause, chain)
  if (Array.isArray(errors)) for (const inner of errors) errorChain(inner, chain)
  return chain
}

export function firstLine(text: string): string {
  return text.split('\n').map(line => line.trim()).find(line => line !== '') ?? ''
}

/** `"a"`, `"a" and "b"`, `"a", "b" and "c"`. */
export function quoteList(names: readonly string[], word = 'and'): string {
  const quoted = names.map(name => JSON.stringify(name))
  return quoted.length < 2 ? quoted.join() : `${quoted.slice(0, -1).join(', ')} ${word} ${quoted.at(-1)}`
}

interface ErrorLike {
  readonly name?: string
  readonly message: string
  readonly errors?: readonly unknown[]
}

function isErrorLike(error: unknown): error is ErrorLike {
  return typeof error === 'object' && error !== null && typeof (error as ErrorLike).message === 'string'
}
