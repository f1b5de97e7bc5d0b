/** What a failure says of itself, put together from the error, the body that it carries, and its causes. */
export interface FailureEvidence {
  /** Of the answer, or else the one that its body names. */
  readonly status: number | undefined
  /** Every code and type, in lower case with `_` between words. */
  readonly codes: readonly string[]
  /** Every message, one a line. */
  readonly text: string
  /** By lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** How long to wait, in the body's own words. */
  readonly retryDelay: string | undefined
}

interface Gathered {
  status: number | undefined
  namedStatus: number | undefined
  readonly codes: string[]
  readonly texts: string[]
  headers: Record<string, string>
  retryDelay: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** A chain of causes longer than this tells nothing new, and may have no end. */
const maxCauses = 8

export function evidenceOf(error: unknown): FailureEvidence {
  const found: Gathered = { status: undefined, namedStatus: undefined, codes: [], texts: [], headers: {}, retryDelay: undefined }
  let current = error
  for (let i = 0; i < maxCauses && current !== undefined; i++) {
    if (typeof current === 'string') found.texts.push(current)
    if (!isFields(current)) break
    readError(found, current)
    current = current.cause
  }
  return {
    status: found.status ?? found.namedStatus,
    codes: found.codes,
    text: found.texts.join('\n'),
    headers: found.headers,
    retryDelay: found.retryDelay,
  }
}

function readError(found: Gathered, error: Fields): void {
  const { statusCode, responseHeaders, responseBody, data } = error
  // A reply that began well and broke has the status of one that succeeded.
  if (typeof statusCode === 'number' && statusCode >= 300) found.status ??= statusCode
  if (isFields(responseHeaders)) {
    for (const [name, value] of Object.entries(responseHeaders)) found.headers[name.toLowerCase()] ??= String(value)
  }
  const amazon = found.headers['x-amzn-errortype']
  if (amazon !== undefined) found.codes.push(normalized(amazon.split(':')[0]!))
  readMessage(found, error)
  // Adapters keep only what their schema knows in `data`.
  const body = typeof responseBody === 'string' ? parsed(responseBody) ?? responseBody : data
  if (typeof body === 'string') found.texts.push(body.trimStart().startsWith('<') ? '' : body.slice(0, 2000))
  else readBody(found, body)
}

/** `{error: {message, code}}`, `{message, code}`, `{error: text, code}`, and each of them as the only item of a list. */
function readBody(found: Gathered, body: unknown): void {
  if (Array.isArray(body)) {
    readBody(found, body[0])
    return
  }
  if (!isFields(body)) return
  readMessage(found, body)
  if (typeof body.error === 'string') found.texts.push(body.error)
  else readBody(found, body.error)
}

function readMessage(found: Gathered, { message, code, type, status, metadata, details }: Fields): void {
  if (typeof message === 'string') found.texts.push(message)
  for (const value of [code, type, status]) {
    if (typeof value !== 'string' && typeof value !== 'number') continue
    if (/^[1-5]\d\d$/.test(String(value))) found.namedStatus ??= Number(value)
    else found.codes.push(normalized(String(value)))
  }
  // A router's message says only that somebody else failed.
  if (isFields(metadata) && typeof metadata.raw === 'string') found.texts.push(metadata.raw)
  if (!Array.isArray(details)) return
  for (const detail of details) {
    if (isFields(detail) && typeof detail.retryDelay === 'string') found.retryDelay ??= detail.retryDelay
  }
}

function normalized(code: string): string {
  return code.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}
