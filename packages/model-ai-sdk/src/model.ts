import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, type JSONValue, type LanguageModelV3 } from '@ai-sdk/provider'
import { scrub, type LanguageModel, type ModelRequest, type ModelStreamPart } from '@offshoot/model'
import { EndpointError } from './error.ts'
import { withExactArguments } from './prompt.ts'
import { follow } from './signal.ts'
import { reportedUsage } from './usage.ts'

export interface EndpointOptions {
  /** Up to and without `/chat/completions`. */
  readonly baseURL: string
  readonly model: string
  readonly apiKey?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent in the body of every request, under the adapter's names (`reasoningEffort`) or the endpoint's own. */
  readonly providerOptions?: Readonly<Record<string, JSONValue>>
}

// The adapter keeps Gemini's thought signatures under the provider's name, but reads them back from this one.
const providerName = 'google'

/** A model behind an OpenAI-compatible endpoint. It makes one HTTP request per call, and does not retry. */
export class EndpointModel implements LanguageModel {
  readonly specificationVersion = 'v3'
  readonly provider = 'openai-compatible'
  readonly modelId: string
  private readonly url: string
  private readonly chat: LanguageModelV3
  private readonly providerOptions: Readonly<Record<string, JSONValue>> | undefined

  /** @throws {EndpointError} `INVALID_BASE_URL` for one that is no plain http(s) URL. */
  constructor({ baseURL, model, apiKey, headers, providerOptions }: EndpointOptions) {
    checkBaseURL(baseURL)
    this.modelId = model
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

  async doStream(request: ModelRequest): Promise<{ stream: AsyncIterable<ModelStreamPart> }> {
    const { signal, release } = follow(request.abortSignal)
    try {
      const { stream } = await this.chat.doStream({
        ...request,
        abortSignal: signal,
        prompt: withExactArguments(request.prompt),
        providerOptions: this.optionsOf(request),
      })
      return { stream: this.read(stream, signal, release) }
    } catch (error) {
      release()
      throw signal.aborted ? signal.reason : error
    }
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

  private async *read(stream: AsyncIterable<ModelStreamPart>, signal: AbortSignal, release: () => void): AsyncGenerator<ModelStreamPart> {
    try {
      for await (const part of stream) yield part.type === 'error' ? { ...part, error: this.broken(part.error) } : part
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    } finally {
      release()
    }
  }

  /** An error that comes as a part does not say where it comes from; one that the stream throws does. */
  private broken(cause: unknown): APICallError {
    return new APICallError({ message: 'broken answer', url: this.url, requestBodyValues: undefined, statusCode: 200, cause })
  }
}

function checkBaseURL(baseURL: string): void {
  const example = 'for example http://localhost:8000/v1'
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new EndpointError('INVALID_BASE_URL', `baseURL "${scrub(baseURL)}" is no http(s) URL; give the endpoint's address up to /chat/completions, ${example}`)
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new EndpointError('INVALID_BASE_URL',
      `baseURL "${url.origin}${url.pathname}" must end with its path, ${example}; credentials belong in apiKey or headers, and a query is not supported`)
  }
}
