import { inspect } from 'node:util'

const secret = /\b(?:sk|pk|key|ghp|xox[a-z])[-_][\w-]{8,}|\b(bearer\s+)[\w.~+/-]{8,}=*/gi

/** `text` without what looks like a key or token. */
export function scrub(text: string): string {
  return text.replace(secret, (_match, bearer: string | undefined) => `${bearer ?? ''}[redacted]`)
}

/** Codes that say more than their message does; other classes' messages are complete. */
const transportCode = /^(?:E[A-Z0-9]+|UND_ERR_\w+)$/

interface ApiCallFailure extends Error {
  readonly url: string
  readonly statusCode?: number
  readonly responseBody?: string
  /** The error in the body, where the endpoint's client understood it; `message` is its text then. */
  readonly data?: unknown
}

/** What went wrong with a request, in one line that names the endpoint where it is known. For people, scrubbed. */
export function describeFailure(error: unknown): string {
  const text = isApiCallFailure(error) ? describeApiCall(error) : describe(error)
  return scrub(text.replace(/\s+/g, ' ').trim())
}

// Recognised by shape: each AI SDK package may bring its own copy of the error class.
function isApiCallFailure(error: unknown): error is ApiCallFailure {
  return error instanceof Error && 'url' in error && typeof error.url === 'string'
}

function describeApiCall(error: ApiCallFailure): string {
  const { statusCode: status } = error
  const endpoint = `the model endpoint ${withoutQuery(error.url)}`
  if (status === undefined) return `${endpoint} cannot be reached: ${describe(rootCause(error))}`
  if (status >= 200 && status < 300) return `${endpoint} broke off its answer: ${describe(rootCause(error))}`
  const details = [error.message, unreadBody(error)].filter(text => text !== '')
  return `${endpoint} answered ${status}: ${details.join(': ') || 'no message'}`
}

/** The start of a body that `message` does not tell of; of a page, nothing. */
function unreadBody({ data, responseBody = '' }: ApiCallFailure): string {
  return data !== undefined || responseBody.trimStart().startsWith('<') ? '' : responseBody.slice(0, 500)
}

function withoutQuery(text: string): string {
  if (!/^https?:/.test(text) || !URL.canParse(text)) return text
  const url = new URL(text)
  return `${url.origin}${url.pathname}`
}

function rootCause(error: Error): unknown {
  let cause: unknown = error
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause
  return cause
}

function describe(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0])
  // What `fetch` says by itself ("fetch failed", "terminated") tells nothing.
  if (error instanceof TypeError && error.cause instanceof Error) return describe(rootCause(error))
  if (error instanceof Error) {
    const code = 'code' in error && typeof error.code === 'string' && transportCode.test(error.code) && !error.message.includes(error.code) ? ` (${error.code})` : ''
    return `${error.message || error.name}${code}`
  }
  if (typeof error === 'object' && error !== null) {
    return 'message' in error && typeof error.message === 'string' ? error.message : inJson(error)
  }
  return String(error)
}

function inJson(value: object): string {
  try {
    return String(JSON.stringify(value))
  } catch {
    return inspect(value)
  }
}
