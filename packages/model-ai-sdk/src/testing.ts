import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sendReply } from './testing-reply.ts'

/** One message of a recorded request, as it was on the wire. */
export interface WireMessage {
  readonly role: string
  readonly content: string | null | readonly { readonly type: string, readonly [key: string]: unknown }[]
  readonly reasoning_content?: string
  readonly tool_calls?: readonly { readonly id: string, readonly function: { readonly name: string, readonly arguments: string }, readonly extra_content?: unknown }[]
  readonly tool_call_id?: string
}

export interface WireTool {
  readonly type: string
  readonly function: { readonly name: string, readonly description?: string, readonly parameters: Record<string, unknown> }
}

export interface WireBody {
  readonly model: string
  readonly messages: readonly WireMessage[]
  readonly tools?: readonly WireTool[]
  readonly [key: string]: unknown
}

export interface RecordedRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The body's bytes. */
  readonly text: string
  readonly body: WireBody
  /** Whether the client hung up before the answer was complete. */
  readonly aborted: boolean
  /** Settles when the exchange is over, however it ended. */
  readonly closed: Promise<void>
}

/** An answer. Everything is optional: `{}` is an empty text that ends with `stop`. */
export interface Reply {
  /** The text, or the pieces it is streamed in. */
  readonly text?: string | readonly string[]
  readonly reasoning?: string
  /** Tool calls. `arguments` that are text are sent as they are; `extraContent` is sent as `extra_content`. */
  readonly calls?: readonly { readonly id?: string, readonly name: string, readonly arguments: string | object, readonly extraContent?: object }[]
  /** Default `tool_calls` where there are calls, else `stop`. */
  readonly finishReason?: string
  /** The wire's usage object; `null` reports none. Default 100 prompt and 20 completion tokens. */
  readonly usage?: object | null
  /** Default 200. Anything else sends `error`, or else `text` as it is. */
  readonly status?: number
  /** The JSON body of a failure; text stands for `{error: {message: text}}`. With status 200 it is sent in the stream, after the rest. */
  readonly error?: object | string
  readonly headers?: Readonly<Record<string, string>>
  /** Awaited before the first byte. */
  readonly hold?: Promise<unknown>
  /** Awaited after the first chunk of the stream. */
  readonly holdAfter?: Promise<unknown>
  /** Destroy the connection after the first chunk (and `holdAfter`). */
  readonly cutOff?: boolean
  /** End the stream without a finish reason. */
  readonly noFinish?: boolean
}

/** Answers request number `index`, from 0. What it throws is answered as a 500, with its message. */
export type Handler = (request: RecordedRequest, index: number) => Reply | Promise<Reply>

export interface Endpoint extends AsyncDisposable {
  /** `http://127.0.0.1:<port>/v1` */
  readonly baseURL: string
  /** Every request so far, oldest first. */
  readonly requests: readonly RecordedRequest[]
  /** Answer the requests from here on with `handler`. */
  respond(handler: Handler): void
  /** Stop listening and end every connection. */
  close(): Promise<void>
}

/** Start an OpenAI-compatible streaming endpoint on a free port of 127.0.0.1 that records what it is asked. It says `ok` until told otherwise. */
export async function startEndpoint(handler: Handler = () => ({ text: 'ok' })): Promise<Endpoint> {
  const requests: RecordedRequest[] = []
  let answer = handler
  const server = createServer((incoming, response) => {
    void record(incoming, response).then(async (request) => {
      const index = requests.push(request) - 1
      await sendReply(request, index, response, await attempt(() => answer(request, index)))
    }).catch(() => { response.destroy() })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    respond(next) { answer = next },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The messages after the system text. */
export function messagesOf(request: RecordedRequest): WireMessage[] {
  return request.body.messages.filter(message => message.role !== 'system')
}

/** Names of the offered tools, in the request's order. */
export function toolsOf(request: RecordedRequest): string[] {
  return (request.body.tools ?? []).map(tool => tool.function.name)
}

/** Whether `later` offers the same tools as `earlier` and its messages begin with all of `earlier`'s, byte for byte. */
export function extendsRequest(earlier: RecordedRequest, later: RecordedRequest): boolean {
  const [before, after] = [messagesText(earlier), messagesText(later)]
  return JSON.stringify(later.body.tools) === JSON.stringify(earlier.body.tools)
    && (after === before || after.startsWith(`${before.slice(0, -1)},`))
}

function messagesText({ text, body }: RecordedRequest): string {
  const messages = JSON.stringify(body.messages)
  if (!text.includes(`"messages":${messages}`)) throw new Error('the request body is not compact JSON, so its bytes cannot be compared')
  return messages
}

async function record(incoming: IncomingMessage, response: ServerResponse): Promise<RecordedRequest> {
  const request = {
    path: incoming.url ?? '', headers: incoming.headers, text: '', body: { model: '', messages: [] } as WireBody, aborted: false,
    closed: new Promise<void>((resolve) => {
      response.once('close', () => {
        request.aborted = !response.writableFinished && response.errored === null
        resolve()
      })
    }),
  }
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  request.text = Buffer.concat(chunks).toString('utf8')
  request.body = JSON.parse(request.text) as WireBody
  return request
}

async function attempt(answer: () => Reply | Promise<Reply>): Promise<Reply> {
  try {
    return await answer()
  } catch (error) {
    return { status: 500, error: `the test's handler failed: ${error instanceof Error ? error.message : String(error)}` }
  }
}
