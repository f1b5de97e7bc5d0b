const secret = /\b(?:sk|pk|key|ghp|xox[a-z])[-_][\w-]{8,}|\b(bearer\s+)[\w.~+/-]{8,}=*/gi

/** `text` without what looks like a key or token. */
export function scrub(text: string): string {
  return text.replace(secret, (_match, bearer: string | undefined) => `${bearer ?? ''}[redacted]`)
}

interface ApiCallFailure extends Error {
  readonly url: string
  readonly statusCode?: number
  readonly responseBody?: string
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
  const endpoint = withoutQuery(error.url)
  if (error.statusCode === undefined) {
    return `the model endpoint ${endpoint} cannot be reached: ${describe(rootCause(error))}`
  }
  return `the model endpoint ${endpoint} answered ${error.statusCode}: ${error.message || error.responseBody?.slice(0, 500) || 'no message'}`
}

function withoutQuery(url: string): string {
  return URL.canParse(url) ? new URL(url).origin + new URL(url).pathname : url
}

function rootCause(error: Error): unknown {
  let cause: unknown = error
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause
  return cause
}

function describe(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0])
  if (error instanceof Error) {
    const code = 'code' in error && typeof error.code === 'string' && !error.message.includes(error.code) ? ` (${error.code})` : ''
    return `${error.message || error.name}${code}`
  }
  if (typeof error === 'object' && error !== null) {
    return 'message' in error && typeof error.message === 'string' ? error.message : JSON.stringify(error)
  }
  return String(error)
}
