import { classifyFailure, describeFailure, type LanguageModel, type ModelStreamPart } from '@offshoot/model'

/** As little as a model can be asked. */
const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Say ok.' }] }]
const maxOutputTokens = 16

/**
 * Ask a model for a word, and let go at the first that comes. Answers how it calls itself.
 *
 * @throws {Error} what is wrong, and how to mend it; the reason of `signal`.
 */
export async function checkModel(model: LanguageModel, signal: AbortSignal): Promise<string> {
  const stop = new AbortController()
  const both = AbortSignal.any([signal, stop.signal])
  try {
    const { stream } = await raced(Promise.resolve(model.doStream({ prompt, maxOutputTokens, abortSignal: both })), both)
    const parts = (stream as AsyncIterable<ModelStreamPart>)[Symbol.asyncIterator]()
    for (;;) {
      const { done, value: part } = await raced(parts.next(), both)
      if (done) throw new Error('it ended its answer without a word')
      if (part.type === 'error') throw part.error
      if (part.type === 'text-delta' || part.type === 'reasoning-delta' || part.type === 'finish') return model.modelId
    }
  } catch (error) {
    if (both.aborted) throw signal.reason
    throw new Error(`${describeFailure(error)}${advice(error)}`, { cause: error })
  } finally {
    // The rest of the answer is of no use.
    stop.abort(new Error('the check is over'))
  }
}

function advice(error: unknown): string {
  switch (classifyFailure(error)?.kind) {
    case 'quota':
      return '; the account has nothing left: top it up, or use another key'
    case 'rate-limit':
      return '; it works, and is busy: try again later'
    case 'context-overflow':
    case undefined:
  }
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined
  if (status === 401 || status === 403) return '; the key is not accepted: see apiKey in its entry, and the variable that it is read from'
  if (status === 404) return '; see model and baseURL in its entry'
  if (status === undefined && typeof error === 'object' && error !== null && 'url' in error) return '; is it running, and is that its address? See baseURL in its entry'
  return ''
}

async function raced<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let abort!: () => void
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => { reject(signal.reason as Error) }
    signal.addEventListener('abort', abort)
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
