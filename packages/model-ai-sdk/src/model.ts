import { createOpenAICompatible } from './bundled/openai-compatible.ts'
import { APICallError, type JSONValue, type LanguageModelV3 } from '@ai-sdk/provider'
import type { LanguageModel, ModelRequest, ModelStreamPart } from '@offshoot/model'
import { checkBaseURL } from './base-url.ts'
import { withExactArguments } from './prompt.ts'
import { openStream } from './stream.ts'
import { reportedUsage } from './usage.ts'

export interface EndpointOptions {
  /** Up to and without `/chat/completions`. */
  readonly baseURL: string
  readonly model: string
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent in the body of every request, under the adapter's names (`reasoningEffort`) or the endpoint's own. */
  readonly providerOptions?: Readonly<Record<string, JSONValue>>
  /** The media types of files that it takes, such as `image/*`. Absent: not known. */
  readonly accepts?: readonly string[] | undefined
}

// The adapter keeps Gemini's thought signatures under the provider's name, but reads them back from this one.
const providerName = 'google'

/** A model behind an OpenAI-compatible endpoint. It makes one HTTP request per call, and does not retry. */
export class EndpointModel implements LanguageModel {
  readonly specificationVersion = 'v3'
  readonly provider = 'openai-compatible'
  readonly modelId: string
  readonly accepts: readonly string[] | undefined
  private readonly url: string
  private readonly chat: LanguageModelV3
  private readonly providerOptions: Readonly<Record<string, JSONValue>> | undefined

  /** @throws {EndpointError} `INVALID_BASE_URL` for one that is no plain http(s) URL. */
  constructor({ baseURL, model, apiKey, headers, providerOptions, accepts }: EndpointOptions) {
    checkBaseURL(baseURL, 'the endpoint\'s address up to /chat/completions, for example http://localhost:8000/v1')
    this.modelId = model
    this.accepts = accepts
    this.url = `${baseURL.replace(/\/$/, '')}/chat/completions`
    this.providerOptions = providerOptions
    this.chat = createOpenAICompatible({
      name: providerName,
      baseURL,
      includeUsage: true,
      convertUsage: reportedUsage,
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(headers === undefined ? {} : { headers }),
    }).chatModel(model)
  }

  doStream(request: ModelRequest): Promise<{ stream: AsyncIterable<ModelStreamPart> }> {
    const { chat } = this
    const prompt = withExactArguments(request.prompt)
    return openStream(chat, { ...request, prompt, providerOptions: this.optionsOf(request) }, cause => this.broken(cause))
  }

  /** What a request says goes before what the config says. The adapter sends what is under its own names, and nothing else. */
  private optionsOf({ providerOptions, maxOutputTokens }: ModelRequest): NonNullable<ModelRequest['providerOptions']> {
    return {
      ...providerOptions,
      [providerName]: {
        ...this.providerOptions,
        ...(maxOutputTokens === undefined ? {} : { max_tokens: maxOutputTokens }),
        ...providerOptions?.openaiCompatible,
        ...providerOptions?.[providerName],
      },
    }
  }

  /** An error that comes as a part does not say where it comes from; one that the stream throws does. */
  private broken(cause: unknown): APICallError {
    return new APICallError({ message: 'broken answer', url: this.url, requestBodyValues: undefined, statusCode: 200, cause })
  }
}
