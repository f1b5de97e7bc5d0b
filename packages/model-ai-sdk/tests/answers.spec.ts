import { getEventListeners } from 'node:events'
import { classifyFailure, describeFailure, type FailureKind } from '@offshoot/model'
import { describe, expect, it } from 'vitest'
import type { Reply } from '../src/testing.ts'
import { ask, endpointWith, partOf } from './support.ts'

async function failure(promise: Promise<unknown>): Promise<string> {
  return describeFailure(await promise.then(() => { throw new Error('it did not fail') }, (error: unknown) => error))
}

describe('usage', () => {
  it('is what the endpoint reported', async () => {
    const { model } = await endpointWith(() => ({
      text: 'hi',
      usage: { prompt_tokens: 10, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 4 }, completion_tokens_details: { reasoning_tokens: 0 } },
    }))
    expect(partOf(await ask(model), 'finish').usage).toMatchObject({
      inputTokens: { total: 10, noCache: 6, cacheRead: 4 },
      outputTokens: { total: 7, text: 7, reasoning: 0 },
      raw: { prompt_tokens: 10, completion_tokens: 7 },
    })
  })

  it.each([
    ['no usage', null],
    ['an empty usage', {}],
    ['nulls', { prompt_tokens: null, completion_tokens: null, prompt_tokens_details: null }],
  ])('has no figure where the endpoint reported %s', async (_what, usage) => {
    const { model } = await endpointWith(() => ({ text: 'hi', usage }))
    const { inputTokens, outputTokens } = partOf(await ask(model), 'finish').usage
    expect([...Object.values(inputTokens), ...Object.values(outputTokens)].filter(figure => figure !== undefined)).toEqual([])
  })

  it('has totals without the details that were not reported', async () => {
    const { model } = await endpointWith(() => ({ text: 'hi', usage: { prompt_tokens: 10, completion_tokens: 0 } }))
    expect(partOf(await ask(model), 'finish').usage).toMatchObject({
      inputTokens: { total: 10, noCache: undefined, cacheRead: undefined },
      outputTokens: { total: 0, text: undefined, reasoning: undefined },
    })
  })
})

describe('finish reasons', () => {
  it.each([['stop', 'stop'], ['length', 'length'], ['content_filter', 'content-filter'], ['tool_calls', 'tool-calls']])('%s', async (finishReason, unified) => {
    const { model } = await endpointWith(() => ({ text: 'hi', finishReason }))
    expect(partOf(await ask(model), 'finish').finishReason).toEqual({ unified, raw: finishReason })
  })
})

describe('an abort', () => {
  it('ends the HTTP request that waits for its first byte, and rejects with the reason', async () => {
    const controller = new AbortController()
    const { endpoint, model } = await endpointWith(() => {
      controller.abort(new Error('enough'))
      return { hold: new Promise(() => {}) }
    })
    await expect(ask(model, { abortSignal: controller.signal })).rejects.toThrow('enough')
    await endpoint.requests[0]!.closed
    expect(endpoint.requests[0]!.aborted).toBe(true)
  })

  it('ends the HTTP request mid-stream, and the stream rejects with the reason', async () => {
    const controller = new AbortController()
    const { endpoint, model } = await endpointWith(() => ({ text: ['one', 'two'], holdAfter: new Promise(() => {}) }))
    const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'go' }] }], abortSignal: controller.signal })
    const seen: string[] = []
    await expect(async () => {
      for await (const part of stream) {
        if (part.type !== 'text-delta') continue
        seen.push(part.delta)
        controller.abort(new Error('enough'))
      }
    }).rejects.toThrow('enough')
    await endpoint.requests[0]!.closed
    expect(seen).toEqual(['one'])
    expect(endpoint.requests[0]!.aborted).toBe(true)
  })

  it('that came before the request makes none', async () => {
    const { endpoint, model } = await endpointWith()
    await expect(ask(model, { abortSignal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
    expect(endpoint.requests).toEqual([])
  })

  it('is not needed to end a request whose stream nobody reads on', async () => {
    const { endpoint, model } = await endpointWith(() => ({ text: ['one', 'two'], holdAfter: new Promise(() => {}) }))
    const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'go' }] }] })
    for await (const part of stream) if (part.type === 'text-delta') break
    await endpoint.requests[0]!.closed
    expect(endpoint.requests[0]!.aborted).toBe(true)
  })
})

describe('a signal that outlives many requests', () => {
  it('keeps no listener of a request that is over, however it ended', async () => {
    const { signal } = new AbortController()
    const { model } = await endpointWith((_request, index) =>
      [{ text: 'hi' }, { status: 500, error: 'no' }, { text: ['one', 'two'], cutOff: true }, { text: 'one', noFinish: true }][index % 4]!)
    for (let n = 0; n < 8; n++) await ask(model, { abortSignal: signal }).catch(() => {})
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

describe('a failure is one line that names the endpoint', () => {
  it('where nothing listens', async () => {
    const { endpoint, model } = await endpointWith()
    await endpoint.close()
    expect(await failure(ask(model))).toMatch(/^the model endpoint http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions cannot be reached: .*ECONNREFUSED.*$/)
  })

  it.each([
    [400, { error: { message: 'the context is too long', type: 'invalid_request_error' } }, 'the context is too long'],
    [401, 'bad key sk-abcdefgh12345678', 'bad key [redacted]'],
    [500, { error: { message: 'overloaded', code: 'overloaded' } }, 'overloaded'],
    [404, { detail: 'no such model' }, 'Not Found: {"detail":"no such model"}'],
  ])('where it answers %i with a JSON body', async (status, error, sentence) => {
    const { endpoint, model } = await endpointWith(() => ({ status, error }))
    expect(await failure(ask(model))).toBe(`the model endpoint ${endpoint.baseURL}/chat/completions answered ${status}: ${sentence}`)
    expect(endpoint.requests).toHaveLength(1)
  })

  it.each<[string, Reply, FailureKind]>([
    ['429', { status: 429, error: 'slow down', headers: { 'retry-after': '2' } }, { kind: 'rate-limit', retryAfterMs: 2000 }],
    ['429 with the code of a quota', { status: 429, error: { error: { message: 'no', type: 'insufficient_quota' } } }, { kind: 'quota' }],
    ['400 with the code of an overflow', { status: 400, error: { error: { message: 'no', code: 'context_length_exceeded' } } }, { kind: 'context-overflow' }],
    ['a rate limit in the stream', { error: { error: { message: 'no', code: 'rate_limit_exceeded' } } }, { kind: 'rate-limit' }],
    ['a status in the stream', { error: { error: { message: 'Provider returned error', code: 429 } } }, { kind: 'rate-limit' }],
  ])('of the kind that it is: %s', async (_what, reply, kind) => {
    const { model } = await endpointWith(() => reply)
    const error: unknown = await ask(model).then(parts => partOf(parts, 'error').error, (reason: unknown) => reason)
    expect(classifyFailure(error)).toEqual(kind)
  })

  it('where it answers 502 with text', async () => {
    const { endpoint, model } = await endpointWith(() => ({ status: 502, text: 'upstream\nis down' }))
    expect(await failure(ask(model))).toBe(`the model endpoint ${endpoint.baseURL}/chat/completions answered 502: Bad Gateway: upstream is down`)
  })

  it('where it answers 503 with a page', async () => {
    const { endpoint, model } = await endpointWith(() => ({ status: 503, text: '<!doctype html><title>Sorry</title>' }))
    expect(await failure(ask(model))).toBe(`the model endpoint ${endpoint.baseURL}/chat/completions answered 503: Service Unavailable`)
  })

  it('where the connection breaks mid-stream', async () => {
    const { endpoint, model } = await endpointWith(() => ({ text: ['one', 'two'], cutOff: true }))
    expect(await failure(ask(model))).toMatch(new RegExp(`^the model endpoint ${endpoint.baseURL}/chat/completions broke off its answer: other side closed`))
    expect(endpoint.requests[0]!.aborted).toBe(false)
  })

  it('where the stream ends without a finish reason', async () => {
    const { endpoint, model } = await endpointWith(() => ({ text: 'one', noFinish: true }))
    const parts = await ask(model)
    expect(describeFailure(partOf(parts, 'error').error)).toBe(
      `the model endpoint ${endpoint.baseURL}/chat/completions broke off its answer: Response stream ended without a finish reason.`)
    expect(partOf(parts, 'finish').finishReason.unified).toBe('error')
  })

  it('where it reports an error in the stream', async () => {
    const { endpoint, model } = await endpointWith(() => ({ text: 'one', error: 'out of memory' }))
    const { error } = partOf(await ask(model), 'error')
    expect(describeFailure(error)).toBe(`the model endpoint ${endpoint.baseURL}/chat/completions broke off its answer: out of memory`)
  })

  it('where the answer is a page', async () => {
    const { endpoint, model } = await endpointWith(() => ({ text: [], noFinish: true, headers: { 'content-type': 'text/html' } }))
    expect(describeFailure(partOf(await ask(model), 'error').error)).toContain(endpoint.baseURL)
  })
})
