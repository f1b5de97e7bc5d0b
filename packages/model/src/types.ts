import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider'

/** What one request asks. `providerOptions.offshoot` is for models in this process; it never reaches a wire. */
export type ModelRequest = LanguageModelV3CallOptions
export type ModelStreamPart = LanguageModelV3StreamPart

/** Who makes a request: `providerOptions.offshoot` of every request that an agent makes. */
export interface RequestOrigin {
  /** The agent's label: the `description` of a delegation, `main` for the agent that a surface created. */
  readonly label: string
  /** Number of this request in the agent's turn, from 1. */
  readonly step: number
}

/**
 * A stream may offer its parts without a reader: an iterable that is drained synchronously.
 * For models that have the whole answer at hand (scripts, replays), where a web stream costs more than the answer.
 */
export const syncParts: unique symbol = Symbol.for('offshoot.parts')

export type ModelStream = (ReadableStream<ModelStreamPart> | AsyncIterable<ModelStreamPart>)
  & { readonly [syncParts]?: Iterable<ModelStreamPart> }

/**
 * A language model: an AI SDK `LanguageModelV3`, of which only streaming is used, and whose stream may
 * also be any async iterable of its parts.
 */
export interface LanguageModel extends Pick<LanguageModelV3, 'specificationVersion' | 'provider' | 'modelId'> {
  /** The media types of files that it takes, such as `image/*`; absent where nobody says: then what it does not take is a failure of its request. */
  readonly accepts?: readonly string[] | undefined
  doStream(options: ModelRequest): PromiseLike<{ stream: ModelStream }>
}
