import { classifyFailure, describeFailure, type FailureKind, type ModelStream, type ModelStreamPart, syncParts } from '@offshoot/model'
import { deepFreeze, type FileBlock, type Message, type MessagePart, type ReasoningBlock, type TextBlock, type ToolCallPart, type ToolResultPart } from '@offshoot/session'
import { parseArguments } from '@offshoot/tools'
import type { StopReason, TurnCut } from './types.ts'

type FinishPart = Extract<ModelStreamPart, { type: 'finish' }>
type CallPart = Extract<ModelStreamPart, { type: 'tool-call' }>
type ResultPart = Extract<ModelStreamPart, { type: 'tool-result' }>

/** A tool call that the model made and that is ours to execute. */
export interface Call {
  readonly id: string
  readonly name: string
  /** `undefined` where the model sent no JSON object. */
  readonly args: Record<string, unknown> | undefined
}

interface OpenBlock {
  readonly type: 'text' | 'reasoning'
  readonly id: string
  text: string
  providerOptions: TextBlock['providerOptions']
  closed: boolean
}

type Part = OpenBlock | MessagePart | ToolResultPart

/** What one model request brought, put together from its stream. */
export class Reply {
  readonly calls: Call[] = []
  finish: FinishPart | undefined
  /** What broke the stream, if anything did. */
  failure: unknown
  modelId: string | undefined
  private readonly parts: Part[] = []

  /** Take the next part. Answers the delta to show, if it is one. */
  add(part: ModelStreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.parts.push({ type: part.type === 'text-start' ? 'text' : 'reasoning', id: part.id, text: '', providerOptions: part.providerMetadata, closed: false })
        break
      case 'text-delta':
      case 'reasoning-delta': {
        const block = this.block(part.type === 'text-delta' ? 'text' : 'reasoning', part.id)
        block.text += part.delta
        block.providerOptions = part.providerMetadata ?? block.providerOptions
        break
      }
      case 'text-end':
      case 'reasoning-end': {
        const block = this.block(part.type === 'text-end' ? 'text' : 'reasoning', part.id)
        block.providerOptions = part.providerMetadata ?? block.providerOptions
        block.closed = true
        break
      }
      case 'tool-call':
        this.call(part)
        break
      case 'tool-result':
        this.providerResult(part)
        break
      case 'file':
        this.parts.push(Object.freeze<FileBlock>({
          type: 'file',
          data: typeof part.data === 'string' ? part.data : Buffer.from(part.data).toString('base64'),
          mediaType: part.mediaType,
          ...(part.providerMetadata ? { providerOptions: part.providerMetadata } : {}),
        }))
        break
      case 'response-metadata':
        this.modelId = part.modelId ?? this.modelId
        break
      case 'finish':
        this.finish = part
        break
      case 'error':
        this.failure ??= part.error ?? new Error('the model reported an error without saying which')
        break
      default:
        // Tool input as it streams, sources, raw chunks and warnings: nothing that a log keeps.
    }
  }

  /** Whether nothing of the reply itself has come. */
  get isBlank(): boolean {
    return this.parts.every(part => 'closed' in part && part.text === '')
  }

  /** What kind of failure it was, where one came before anything of the reply. */
  failedBlank(): FailureKind | undefined {
    return this.failure !== undefined && this.isBlank ? classifyFailure(this.failure) : undefined
  }

  /** The text of this reply as frozen blocks; empty where it has none worth reading. */
  text(): readonly TextBlock[] {
    const blocks: TextBlock[] = []
    let blank = true
    for (const part of this.parts) {
      if (part.type !== 'text' || part.text === '') continue
      blocks.push(seal(part) as TextBlock)
      blank &&= part.text.trim() === ''
    }
    return blank ? noText : Object.freeze(blocks)
  }

  /**
   * The message for the log, frozen; `undefined` where there is nothing to keep. From a stream that broke
   * only text is kept: half of anything else could not be sent again.
   */
  message(broken: boolean): Message | undefined {
    const content: (MessagePart | ToolResultPart)[] = []
    for (const part of this.parts) {
      if (broken ? part.type === 'text' && part.text !== '' : !isEmpty(part)) content.push(seal(part))
    }
    if (content.length === 0) return undefined
    return Object.freeze({ role: 'assistant' as const, content: Object.freeze(content) as unknown as typeof content })
  }

  private block(type: 'text' | 'reasoning', id: string): OpenBlock {
    for (let i = this.parts.length - 1; i >= 0; i--) {
      const part = this.parts[i]!
      if ('closed' in part && !part.closed && part.type === type && part.id === id) return part
    }
    // A delta whose start never came still belongs to the reply.
    const block: OpenBlock = { type, id, text: '', providerOptions: undefined, closed: false }
    this.parts.push(block)
    return block
  }

  private call(part: CallPart): void {
    const args = parseArguments(part.input)
    const input = args === undefined ? Object.freeze({}) : deepFreeze(args)
    const asSent = part.input === JSON.stringify(input) ? undefined : { offshoot: Object.freeze({ input: part.input }) }
    const providerOptions = asSent || part.providerMetadata ? Object.freeze({ ...part.providerMetadata, ...asSent }) : undefined
    this.parts.push(Object.freeze<ToolCallPart>({
      type: 'tool-call', toolCallId: part.toolCallId, toolName: part.toolName, input,
      ...(part.providerExecuted ? { providerExecuted: true } : {}),
      ...(providerOptions ? { providerOptions } : {}),
    }))
    if (!part.providerExecuted) this.calls.push({ id: part.toolCallId, name: part.toolName, args: args && input })
  }

  // A tool that the vendor ran itself: its result belongs to the assistant's message.
  private providerResult(part: ResultPart): void {
    if (part.preliminary) return
    this.parts.push(Object.freeze<ToolResultPart>({
      type: 'tool-result', toolCallId: part.toolCallId, toolName: part.toolName,
      output: Object.freeze({ type: part.isError ? 'error-json' : 'json', value: part.result }),
      ...(part.providerMetadata ? { providerOptions: part.providerMetadata } : {}),
    }))
  }

  /** Why the reply cannot count as one that ended by itself, or `undefined`. */
  failed(): TurnCut | undefined {
    if (this.failure !== undefined) return { stopReason: stopReasonOf(classifyFailure(this.failure)), diagnostic: describeFailure(this.failure) }
    const reason = this.finish?.finishReason
    if (!reason) return error('the model\'s reply ended without a finish reason')
    if (reason.unified === 'error') return error('the model ended its reply with an error')
    if (reason.unified === 'other') {
      return {
        stopReason: stopReasonOf(classifyFailure({ code: reason.raw })),
        diagnostic: `the model ended its reply for an unknown reason (${reason.raw ?? 'none given'})`,
      }
    }
    return undefined
  }
}

function stopReasonOf(failure: FailureKind | undefined): StopReason {
  return failure === undefined || failure.kind === 'rate-limit' ? 'error' : failure.kind
}

function error(diagnostic: string): TurnCut {
  return { stopReason: 'error', diagnostic }
}

const noText: readonly TextBlock[] = Object.freeze([])

/** Reasoning without text may still carry what its vendor needs back. */
function isEmpty(part: Part): boolean {
  return 'closed' in part && part.text === '' && (part.type === 'text' || part.providerOptions === undefined)
}

function seal(part: Part): MessagePart | ToolResultPart {
  if (!('closed' in part)) return part
  const { type, text, providerOptions } = part
  return Object.freeze<TextBlock | ReasoningBlock>(providerOptions ? { type, text, providerOptions } : { type, text })
}

/** Drain `stream` into `visit`. `onCancel` receives what stops the reading at once, for a model that ignores its signal. */
export async function readStream(
  stream: ModelStream, visit: (part: ModelStreamPart) => void, onCancel: (cancel: () => void) => void,
): Promise<void> {
  const parts = stream[syncParts]
  if (parts) {
    for (const part of parts) visit(part)
    return
  }
  if ('getReader' in stream) {
    const reader = stream.getReader()
    onCancel(() => { reader.cancel().catch(() => {}) })
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      visit(value)
    }
  }
  const iterator = stream[Symbol.asyncIterator]()
  const cancelled = new Promise<undefined>(resolve => {
    onCancel(() => {
      resolve(undefined)
      void close(iterator)
    })
  })
  for (;;) {
    const next = await Promise.race([iterator.next(), cancelled])
    if (!next || next.done) return
    visit(next.value)
  }
}

/** Let go of a stream that nobody is going to read. */
export function closeUnread(stream: ModelStream): void {
  if ('getReader' in stream) stream.cancel().catch(() => {})
  else void close(stream[Symbol.asyncIterator]())
}

async function close(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.()
  } catch {
    // Nobody reads it any more, so how it takes that is its own affair.
  }
}
