import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A block of a tool list, a system text or a message, as it is on the wire. */
interface Block {
  readonly type?: string
  readonly name?: string
  readonly text?: string
  readonly id?: string
  readonly tool_use_id?: string
  readonly cache_control?: object
  readonly [key: string]: unknown
}

export interface MessagesBody {
  readonly model: string
  readonly max_tokens: number
  readonly system?: readonly Block[]
  readonly tools?: readonly Block[]
  readonly messages: readonly { readonly role: string, readonly content: readonly Block[] }[]
  readonly [key: string]: unknown
}

export interface MessagesRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: MessagesBody
  /** The tokens that the endpoint said it read from its cache. */
  readonly cached: number
}

interface MessagesReply {
  readonly thinking?: string
  readonly text?: string
  readonly calls?: readonly { readonly name: string, readonly arguments: object, readonly id?: string }[]
  /** Sent within the stream, after the text. */
  readonly error?: { readonly type: string, readonly message: string }
  /** Report nothing of the cache. */
  readonly silentCache?: boolean
  readonly hold?: Promise<unknown>
}

export type MessagesHandler = (request: MessagesRequest, index: number) => MessagesReply

/** Each block counts for this many tokens. */
export const tokensPerBlock = 10

/** How far before a breakpoint Anthropic looks for what it has cached. */
const lookBack = 20

/**
 * A streaming endpoint of Anthropic's shape on a free port of 127.0.0.1. It refuses what Anthropic refuses, and has a
 * cache like theirs for each model: it writes what ends at a breakpoint, and reads what ends at one or at most 20 blocks before.
 */
export class MessagesEndpoint implements AsyncDisposable {
  readonly requests: MessagesRequest[] = []
  private readonly cache = new Set<string>()
  private readonly server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => { chunks.push(chunk) })
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      void this.answer({ path: incoming.url!, headers: incoming.headers, text, body: JSON.parse(text) as MessagesBody }, response)
    })
  })

  handler: MessagesHandler

  private constructor(handler: MessagesHandler) {
    this.handler = handler
  }

  static async start(handler: MessagesHandler = () => ({ text: 'ok' })): Promise<MessagesEndpoint> {
    const endpoint = new MessagesEndpoint(handler)
    endpoint.server.listen(0, '127.0.0.1')
    await once(endpoint.server, 'listening')
    return endpoint
  }

  get baseURL(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.close()
    this.server.closeAllConnections()
    await once(this.server, 'close')
  }

  private async answer(asked: Omit<MessagesRequest, 'cached'>, response: ServerResponse): Promise<void> {
    const refusal = judge(asked.body)
    if (refusal !== undefined) {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: refusal } }))
      return
    }
    const counts = this.count(asked.body)
    const request = { ...asked, cached: counts.cache_read_input_tokens }
    const index = this.requests.push(request) - 1
    const reply = this.handler(request, index)
    const { input_tokens } = counts
    await reply.hold
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events(reply, index, asked.body.model, reply.silentCache ? { input_tokens } : counts)) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    }
    response.end()
  }

  private count(body: MessagesBody) {
    const blocks = blocksOf(body)
    const prefixes: string[] = []
    for (const { text } of blocks) prefixes.push(`${prefixes.at(-1) ?? body.model}\n${text}`)
    const ends = blocks.flatMap(({ isBreakpoint }, i) => isBreakpoint ? [i] : [])
    const read = Math.max(0, ...ends.map(end => {
      for (let i = end; i >= 0 && i > end - lookBack; i--) if (this.cache.has(prefixes[i]!)) return i + 1
      return 0
    }))
    for (const end of ends) this.cache.add(prefixes[end]!)
    const written = Math.max(read, (ends.at(-1) ?? -1) + 1)
    return {
      input_tokens: (blocks.length - written) * tokensPerBlock,
      cache_creation_input_tokens: (written - read) * tokensPerBlock,
      cache_read_input_tokens: read * tokensPerBlock,
    }
  }
}

/** All that a request holds, in the order in which Anthropic caches it: tools, system text, messages. */
export function blocksOf({ tools = [], system = [], messages }: MessagesBody): { text: string, isBreakpoint: boolean }[] {
  const flat = [
    ...tools.map(block => ['tool', block] as const),
    ...system.map(block => ['system', block] as const),
    ...messages.flatMap(({ role, content }) => content.map(block => [role, block] as const)),
  ]
  return flat.map(([place, { cache_control: breakpoint, ...block }]) => ({ text: `${place} ${JSON.stringify(block)}`, isBreakpoint: breakpoint !== undefined }))
}

/** Whether `later` begins with all of `earlier`, byte for byte, apart from where breakpoints stand. */
export function extendsMessages(earlier: MessagesRequest, later: MessagesRequest): boolean {
  const [before, after] = [earlier, later].map(({ body }) => blocksOf(body).map(({ text }) => text))
  return before!.every((text, i) => after![i] === text)
}

function judge({ tools = [], system = [], messages, cache_control: automatic }: MessagesBody): string | undefined {
  const marked = [...tools, ...system, ...messages.flatMap(({ content }) => content)].filter(block => block.cache_control)
  if (marked.length + (automatic ? 1 : 0) > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`
  if (marked.some(({ text }) => text === '')) return 'cache_control cannot be set for empty text blocks'
  for (const [i, { role, content }] of messages.entries()) {
    if (role !== (i % 2 === 0 ? 'user' : 'assistant')) return `messages.${i}: roles must alternate, beginning with "user"`
    if (content.length === 0 || content.some(({ type, text }) => type === 'text' && !text)) return `messages.${i}: content must not be empty`
    const calls = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
    const results = messages[i + 1]?.content.filter(({ type }) => type === 'tool_result').map(each => each.tool_use_id) ?? []
    const open = calls.filter(id => !results.includes(id))
    if (open.length > 0) return `messages.${i}: tool_use ids without tool_result blocks immediately after: ${open.join(', ')}`
  }
  return messages.at(-1)?.role === 'user' ? undefined : 'the conversation must end with a user message'
}

function* events({ thinking, text, calls = [], error }: MessagesReply, index: number, model: string, usage: object): Generator<{ readonly type: string, readonly [key: string]: unknown }> {
  yield { type: 'message_start', message: { id: `msg_${index}`, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } } }
  let at = 0
  const block = function* (start: object, ...deltas: object[]) {
    yield { type: 'content_block_start', index: at, content_block: start }
    for (const delta of deltas) yield { type: 'content_block_delta', index: at, delta }
    yield { type: 'content_block_stop', index: at++ }
  }
  if (thinking !== undefined) yield* block({ type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking }, { type: 'signature_delta', signature: 'c2ln' })
  if (text !== undefined) yield* block({ type: 'text', text: '' }, { type: 'text_delta', text })
  for (const [n, call] of calls.entries()) {
    const args = JSON.stringify(call.arguments)
    yield* block({ type: 'tool_use', id: call.id ?? `toolu_${index}_${n}`, name: call.name, input: {} },
      { type: 'input_json_delta', partial_json: args.slice(0, 2) }, { type: 'input_json_delta', partial_json: args.slice(2) })
  }
  if (error) {
    yield { type: 'error', error }
    return
  }
  yield { type: 'message_delta', delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null }, usage: { output_tokens: 20 } }
  yield { type: 'message_stop' }
}
