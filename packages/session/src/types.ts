import type {
  LanguageModelV3FilePart, LanguageModelV3Message, LanguageModelV3ReasoningPart, LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart, LanguageModelV3ToolResultPart, SharedV3ProviderOptions,
} from '@ai-sdk/provider'

/** Metadata that a model provider attached to a part and needs back, by provider name. */
export type ProviderMetadata = SharedV3ProviderOptions

export interface TextBlock {
  readonly type: 'text'
  readonly text: string
  readonly providerOptions?: ProviderMetadata
}

export interface ReasoningBlock {
  readonly type: 'reasoning'
  readonly text: string
  readonly providerOptions?: ProviderMetadata
}

export interface FileBlock {
  readonly type: 'file'
  /** Base64, or an `http(s):` URL. */
  readonly data: string
  readonly mediaType: string
  readonly filename?: string
  readonly providerOptions?: ProviderMetadata
}

/** A piece of what an agent says or is told. */
export type ContentBlock = TextBlock | ReasoningBlock | FileBlock

/** What an agent is asked: plain text, or blocks where files belong to it. */
export type Prompt = string | readonly ContentBlock[]

/**
 * One message of a session's history, in the AI SDK's shape, so that a request is built without conversion.
 *
 * Everything in it is frozen and survives JSON. On a tool call, `providerOptions.offshoot.input` holds the arguments
 * exactly as the model sent them, wherever `JSON.stringify(call.input)` would not give them back; a call whose
 * arguments are not a JSON object has `input: {}`.
 */
export type Message = LanguageModelV3Message
export type ToolCallPart = LanguageModelV3ToolCallPart
export type ToolResultPart = LanguageModelV3ToolResultPart
export type MessagePart = LanguageModelV3TextPart | LanguageModelV3ReasoningPart | LanguageModelV3FilePart | LanguageModelV3ToolCallPart

/** What model requests cost. A figure that an endpoint did not report is absent, never 0. */
export interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cachedInputTokens?: number
  readonly reasoningTokens?: number
  /** Of the model requests below, those whose tokens are not known: their endpoint did not say, or they were broken off. */
  readonly unreportedSteps?: number
  /** Model requests made. */
  readonly steps: number
  /** Tool calls executed. */
  readonly toolCalls: number
  readonly durationMs: number
}

/** Who wrote a user-role message that no user did: a notice of background work, or the runtime asking for the answer. */
export type EntrySource = 'notice' | 'nudge'

/** One line of the log. */
export interface Entry {
  readonly type: 'message'
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly message: Message
  /** Absent for what the user, the model and the tools said. */
  readonly source?: EntrySource
}

export interface SessionHeader {
  /** `ses_…`: ids sort by creation. */
  readonly id: string
  /** The session that the owner of this one was delegated from, or that this one was forked from. */
  readonly parent?: string
  /** Delegation depth of its agent; a root is 0. */
  readonly depth: number
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly cwd: string
  /** Of the log format. */
  readonly version: 1
}
