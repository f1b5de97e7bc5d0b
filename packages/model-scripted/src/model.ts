import { setTimeout } from 'node:timers/promises'
import { APICallError } from '@ai-sdk/provider'
import { type LanguageModel, type ModelRequest, type ModelStream, type ModelStreamPart, syncParts } from '@offshoot/model'
import { checkReply } from './check.ts'
import { ScriptError } from './error.ts'
import { describeRequest, inputTokens } from './request.ts'
import type { Script, ScriptFailure, ScriptReply } from './types.ts'

/** A model that answers what its script says. It has the whole answer at hand, so its streams also offer `syncParts`. */
export class ScriptedModel implements LanguageModel {
  readonly specificationVersion = 'v3'
  readonly provider = 'scripted'
  readonly modelId = 'scripted'
  private readonly script: Script
  private readonly source: string
  private calls = 0

  /** `source` names the script in errors. */
  constructor(script: Script, source = 'the script') {
    this.script = script
    this.source = source
  }

  async doStream(request: ModelRequest): Promise<{ stream: ModelStream }> {
    const { abortSignal: signal } = request
    signal?.throwIfAborted()
    const asked = describeRequest(request)
    const answer = this.script(asked)
    const reply = checkReply(answer instanceof Promise ? await untilAborted(answer, signal) : answer, (key, sentence) => {
      throw new ScriptError('NO_REPLY', `${this.source}: reply to label "${asked.label}", step ${asked.step}: ${key && `${key}: `}${sentence}`)
    })
    if (reply.delayMs) await pause(reply.delayMs, signal)
    if (reply.fail) throw this.failure(reply.fail)
    return { stream: streamOf([...this.parts(request, reply)]) }
  }

  private *parts(request: ModelRequest, { reply, reasoning, calls = [], finish }: ScriptReply): Generator<ModelStreamPart> {
    let characters = 0
    if (reasoning !== undefined) {
      characters += reasoning.length
      yield { type: 'reasoning-start', id: 'reasoning' }
      yield { type: 'reasoning-delta', id: 'reasoning', delta: reasoning }
      yield { type: 'reasoning-end', id: 'reasoning' }
    }
    if (reply !== undefined) {
      characters += reply.length
      yield { type: 'text-start', id: 'text' }
      yield { type: 'text-delta', id: 'text', delta: reply }
      yield { type: 'text-end', id: 'text' }
    }
    for (const { tool, args = {} } of calls) {
      const input = JSON.stringify(args)
      characters += input.length
      yield { type: 'tool-call', toolCallId: `call_${++this.calls}`, toolName: tool, input }
    }
    const unified = finish ?? (calls.length > 0 ? 'tool-calls' : 'stop')
    yield {
      type: 'finish',
      finishReason: { unified, raw: unified },
      usage: {
        inputTokens: { total: inputTokens(request), noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: Math.ceil(characters / 4), text: undefined, reasoning: undefined },
      },
    }
  }

  private failure({ message, status, code, retryAfterMs }: ScriptFailure): APICallError {
    return new APICallError({
      message, url: this.source, requestBodyValues: undefined,
      ...(status === undefined ? {} : { statusCode: status }),
      ...(code === undefined ? {} : { data: { error: { message, code } } }),
      ...(retryAfterMs === undefined ? {} : { responseHeaders: { 'retry-after-ms': String(retryAfterMs) } }),
    })
  }
}

function streamOf(parts: readonly ModelStreamPart[]): ModelStream {
  let sent = 0
  const stream = new ReadableStream<ModelStreamPart>({
    pull(controller) {
      const part = parts[sent++]
      if (part) controller.enqueue(part)
      else controller.close()
    },
  }, { highWaterMark: 0 })
  return Object.assign(stream, { [syncParts]: parts })
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await setTimeout(ms, undefined, signal ? { signal } : {})
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

/** What `answer` settles to, unless the signal aborts first. No listener stays. */
async function untilAborted<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return answer
  let abort = (): void => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => { reject(signal.reason) }
    signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([answer, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
