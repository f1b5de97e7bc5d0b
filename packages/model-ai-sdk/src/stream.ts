import type { LanguageModelV3 } from '@ai-sdk/provider'
import type { ModelRequest, ModelStreamPart } from '@offshoot/model'
import { follow } from './signal.ts'

/**
 * Make `request` of an AI SDK model. An abort rejects, or breaks the stream, with the signal's reason; no listener stays
 * on the signal. `broken` makes of an error within the stream one that says where it comes from.
 */
export async function openStream(
  model: LanguageModelV3, request: ModelRequest, broken: (cause: unknown) => Error, finish: (part: FinishPart) => FinishPart = part => part,
): Promise<{ stream: AsyncIterable<ModelStreamPart> }> {
  const { signal, release } = follow(request.abortSignal)
  try {
    const { stream } = await model.doStream({ ...request, abortSignal: signal })
    return { stream: read(stream, signal, release, broken, finish) }
  } catch (error) {
    release()
    throw signal.aborted ? signal.reason : error
  }
}

type FinishPart = Extract<ModelStreamPart, { type: 'finish' }>

async function *read(
  stream: AsyncIterable<ModelStreamPart>, signal: AbortSignal, release: () => void,
  broken: (cause: unknown) => Error, finish: (part: FinishPart) => FinishPart,
): AsyncGenerator<ModelStreamPart> {
  try {
    for await (const part of stream) {
      if (part.type === 'error') yield { ...part, error: broken(part.error) }
      else yield part.type === 'finish' ? finish(part) : part
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    release()
  }
}
