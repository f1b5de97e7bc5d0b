import type { LanguageModel, ModelRequest, ModelStreamPart } from './types.ts'

export interface FakeReply {
  readonly text?: string
  readonly reasoning?: string
  /** `args` as text is sent as it stands, valid or not. */
  readonly calls?: readonly { readonly name: string, readonly args?: object | string, readonly id?: string }[]
  /** Default `stop`, or `tool-calls` where there are calls. */
  readonly finish?: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'
  readonly usage?: { readonly input?: number, readonly output?: number }
  /** Stream exactly these, instead of what the fields above would make. */
  readonly parts?: readonly ModelStreamPart[]
  /** The request fails with this before anything is streamed. */
  readonly error?: unknown
  /** The stream breaks with this after the parts above. */
  readonly breaks?: unknown
  /** Nothing is streamed before this settles. An abort ends the waiting, unless `deaf`. */
  readonly hold?: Promise<unknown>
  /** The stream stays open after its first part until this settles. */
  readonly holdAfter?: Promise<unknown>
  /** Ignore the request's abort signal. */
  readonly deaf?: boolean
}

export interface FakeModel extends LanguageModel {
  /** Every request it was sent, oldest first. */
  readonly requests: ModelRequest[]
}

/** A model for tests: `reply` answers each request, with its number from 0. Its streams are real web streams. */
export function fakeModel(reply: (request: ModelRequest, index: number) => FakeReply | string | Promise<FakeReply | string>): FakeModel {
  const requests: ModelRequest[] = []
  let calls = 0
  return {
    specificationVersion: 'v3',
    provider: 'fake',
    modelId: 'fake',
    requests,
    async doStream(request) {
      const index = requests.push(request) - 1
      const answer = await reply(request, index)
      const script = typeof answer === 'string' ? { text: answer } : answer
      if (script.hold) await held(script.hold, script, request)
      if (script.error !== undefined) throw script.error
      return { stream: stream(script, request, () => `call-${++calls}`) }
    },
  }
}

function stream(script: FakeReply, request: ModelRequest, nextId: () => string): ReadableStream<ModelStreamPart> {
  const parts = script.parts ?? [...streamParts(script, nextId)]
  let sent = 0
  return new ReadableStream<ModelStreamPart>({
    async pull(controller) {
      if (sent === 1 && script.holdAfter) await held(script.holdAfter, script, request)
      const part = parts[sent++]
      if (part?.type === 'finish' && script.breaks !== undefined) controller.error(script.breaks)
      else if (part) controller.enqueue(part)
      else controller.close()
    },
  }, { highWaterMark: 0 })
}

function* streamParts({ text, reasoning, calls = [], finish, usage }: FakeReply, nextId: () => string): Generator<ModelStreamPart> {
  if (reasoning !== undefined) yield* block('reasoning', reasoning)
  if (text !== undefined) yield* block('text', text)
  for (const { name, args = {}, id } of calls) {
    yield { type: 'tool-call', toolCallId: id ?? nextId(), toolName: name, input: typeof args === 'string' ? args : JSON.stringify(args) }
  }
  const unified = finish ?? (calls.length > 0 ? 'tool-calls' : 'stop')
  yield {
    type: 'finish',
    finishReason: { unified, raw: unified === 'other' ? undefined : unified },
    usage: {
      inputTokens: { total: usage?.input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: usage?.output, text: undefined, reasoning: undefined },
    },
  }
}

function* block(type: 'text' | 'reasoning', delta: string): Generator<ModelStreamPart> {
  yield { type: `${type}-start`, id: type }
  if (delta !== '') yield { type: `${type}-delta`, id: type, delta }
  yield { type: `${type}-end`, id: type }
}

function held(gate: Promise<unknown>, { deaf }: FakeReply, { abortSignal }: ModelRequest): Promise<unknown> {
  if (deaf || !abortSignal) return gate
  abortSignal.throwIfAborted()
  const { promise, reject } = deferred()
  const abort = (): void => { reject(abortSignal.reason) }
  abortSignal.addEventListener('abort', abort, { once: true })
  return Promise.race([gate, promise]).finally(() => { abortSignal.removeEventListener('abort', abort) })
}

function deferred(): { promise: Promise<never>, reject: (reason: unknown) => void } {
  let reject!: (reason: unknown) => void
  const promise = new Promise<never>((_resolve, no) => { reject = no })
  return { promise, reject }
}
