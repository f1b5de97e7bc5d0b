import type { ContentBlock as WireBlock, SessionUpdate } from '@agentclientprotocol/sdk/unstable'
import type { ContentBlock } from '@offshoot/session'
import { modelOf } from './settings.ts'

/** A tool call of an agent, as far as it has told of it. */
export interface SeenCall {
  title: string | undefined
  kind: string | undefined
}

/**
 * What an agent's turn has brought so far, from its updates in their order. An update that does not fit the protocol, or is not known, brings
 * nothing and does no harm.
 */
export class Collector {
  /** The latest that the agent said of its model. */
  model: string | undefined
  hasAnswered = false
  /** The agent says that its turn has failed, though it may end it as if it had not. */
  hasFailed = false
  /** Model requests, as far as they can be told apart: what an agent says after its tools ended is another one. */
  steps = 1
  readonly calls: Map<string, SeenCall> = new Map()
  private readonly sessionId: string
  private readonly maxBytes: number
  private answer: Answer
  /** What was said before the last tool call. */
  private earlier: Answer | undefined
  private readonly open = new Set<string>()
  private toolsEnded = false

  constructor(sessionId: string, maxBytes: number, model: string | undefined) {
    this.sessionId = sessionId
    this.maxBytes = maxBytes
    this.model = model
    this.answer = new Answer(maxBytes)
  }

  /** The parameters of a `session/update`. */
  add(params: unknown): void {
    if (!isUpdate(params) || params.sessionId !== this.sessionId) return
    const { update } = params
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        this.wordCame()
        this.answer.add(update.content, update.messageId ?? undefined)
        break
      case 'agent_thought_chunk':
        this.wordCame()
        break
      case 'tool_call':
      case 'tool_call_update':
        if (typeof update.toolCallId === 'string') this.toolMoved(update)
        break
      case 'config_option_update':
        if (Array.isArray(update.configOptions)) this.model = modelOf(update.configOptions) ?? this.model
        break
      case 'session_info_update':
        this.hasFailed = saysFailed(update._meta) ?? this.hasFailed
        break
      default:
        // Of no use here, or newer than this.
    }
  }

  /** The tool that runs now: what the agent calls it. */
  get tool(): string | undefined {
    const id = [...this.open].at(-1)
    if (id === undefined) return undefined
    const { title, kind } = this.calls.get(id)!
    return title ?? kind ?? 'tool'
  }

  /** What was said after the last tool call: the answer. */
  get output(): ContentBlock[] {
    return this.answer.blocks()
  }

  /** The last that was said at all: what is left of a turn that did not end well. */
  get lastWords(): ContentBlock[] {
    const { output } = this
    return output.length > 0 ? output : this.earlier?.blocks() ?? []
  }

  /** Another prompt in the same session: what comes is its answer. */
  nextPrompt(): void {
    this.turnTo()
    this.open.clear()
    this.steps++
    this.toolsEnded = false
  }

  private wordCame(): void {
    this.hasAnswered = true
    // An agent that speaks has its tools behind it, whether it said so of each or not.
    if (this.open.size > 0) this.toolsEnded = true
    this.open.clear()
    this.nextStep()
  }

  private toolMoved({ toolCallId: id, title, kind, status }: { readonly toolCallId: string, readonly title?: unknown, readonly kind?: unknown, readonly status?: unknown }): void {
    this.hasAnswered = true
    let call = this.calls.get(id)
    if (!call) {
      this.nextStep()
      this.turnTo()
      this.calls.set(id, call = { title: undefined, kind: undefined })
    }
    // `null` and absent both mean: as before.
    if (typeof title === 'string') call.title = title
    if (typeof kind === 'string') call.kind = kind
    if (status === 'completed' || status === 'failed') {
      this.open.delete(id)
      if (this.open.size === 0) this.toolsEnded = true
    } else if (status === 'pending' || status === 'in_progress') {
      this.open.add(id)
    }
  }

  private nextStep(): void {
    if (this.toolsEnded) this.steps++
    this.toolsEnded = false
  }

  private turnTo(): void {
    if (this.answer.isEmpty) return
    this.earlier = this.answer
    this.answer = new Answer(this.maxBytes)
  }
}

/** Text and files, as they come, up to a limit. */
class Answer {
  private readonly maxBytes: number
  private readonly parts: (string | ContentBlock)[] = []
  private bytes = 0
  private cut = 0
  private messageId: string | undefined

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get isEmpty(): boolean {
    return !this.parts.some(part => typeof part !== 'string' || part.trim() !== '')
  }

  add(content: WireBlock, messageId: string | undefined): void {
    const part = partOf(content)
    if (part === undefined || part === '') return
    const isNext = messageId !== undefined && this.messageId !== undefined && messageId !== this.messageId && this.parts.length > 0
    this.messageId = messageId ?? this.messageId
    if (isNext) this.parts.push('\n\n')
    const size = typeof part === 'string' ? Buffer.byteLength(part) : part.type === 'file' ? part.data.length : 0
    if (this.bytes + size > this.maxBytes) {
      this.cut += size
      if (typeof part === 'string') this.keepStartOf(part)
      return
    }
    this.bytes += size
    this.parts.push(part)
  }

  blocks(): ContentBlock[] {
    if (this.isEmpty) return []
    const note = this.cut > 0 ? [`\n\n[${this.cut} bytes more were cut here (maxOutputBytes)]`] : []
    const blocks: ContentBlock[] = []
    let text = ''
    const endText = (): void => {
      if (text.trim() !== '') blocks.push({ type: 'text', text })
      text = ''
    }
    for (const part of [...this.parts, ...note]) {
      if (typeof part === 'string') {
        text += part
      } else {
        endText()
        blocks.push(part)
      }
    }
    endText()
    return blocks
  }

  private keepStartOf(text: string): void {
    const room = this.maxBytes - this.bytes
    if (room <= 0) return
    const start = Buffer.from(text).subarray(0, room).toString('utf8').replace(/\uFFFD+$/, '')
    const size = Buffer.byteLength(start)
    this.bytes = this.maxBytes
    this.cut -= size
    this.parts.push(start)
  }
}

function partOf(content: WireBlock | undefined): string | ContentBlock | undefined {
  switch (content?.type) {
    case 'text':
      return typeof content.text === 'string' ? content.text : undefined
    case 'image':
    case 'audio':
      return typeof content.data === 'string' ? { type: 'file', data: content.data, mediaType: content.mimeType } : undefined
    case 'resource_link':
      return typeof content.uri === 'string' ? `[${content.name}](${content.uri})` : undefined
    case 'resource':
      return 'text' in content.resource ? content.resource.text : undefined
    default:
      return undefined
  }
}

/** codex-acp ends a turn that its model's endpoint refused with the error as its answer; how the turn went, it says here alone. */
function saysFailed(meta: unknown): boolean | undefined {
  const status = field(field(field(meta, 'codex'), 'threadStatus'), 'type')
  return status === undefined ? undefined : status === 'systemError'
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value ? (value as Record<string, unknown>)[name] : undefined
}

function isUpdate(params: unknown): params is { readonly sessionId: string, readonly update: SessionUpdate } {
  return typeof params === 'object' && params !== null && 'sessionId' in params && 'update' in params && typeof params.update === 'object' && params.update !== null
}
