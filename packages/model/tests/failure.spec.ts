import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { APICallError } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { describeFailure, scrub } from '../src/index.ts'

const url = 'http://127.0.0.1:8000/v1/chat/completions'

function apiError(options: Partial<ConstructorParameters<typeof APICallError>[0]>): APICallError {
  return new APICallError({ message: '', url, requestBodyValues: {}, ...options })
}

/** What `fetch` really rejects with where nothing listens. */
async function refused(): Promise<{ error: unknown, origin: string }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  server.close()
  await once(server, 'close')
  return { origin, error: await fetch(origin).catch((error: unknown) => error) }
}

describe('describeFailure', () => {
  it('names an endpoint that cannot be reached, and the innermost reason', async () => {
    const { error, origin } = await refused()
    const failure = apiError({ url: `${origin}/v1/chat/completions`, cause: error })
    expect(describeFailure(failure)).toMatch(/^the model endpoint http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:\d+$/)
  })

  it('says why a bare fetch failed', async () => {
    const { error } = await refused()
    expect(describeFailure(error)).toMatch(/^connect ECONNREFUSED /)
  })

  it('says the first reason of several attempts', () => {
    const cause = new AggregateError([new Error('connect ECONNREFUSED ::1:9'), new Error('connect ECONNREFUSED 127.0.0.1:9')])
    expect(describeFailure(new TypeError('fetch failed', { cause }))).toBe('connect ECONNREFUSED ::1:9')
  })

  it.each([
    ['the sentence of an error body', { statusCode: 400, message: 'the context is too long', data: { error: {} }, responseBody: '{"error":{}}' }, 'answered 400: the context is too long'],
    ['the body that nobody understood', { statusCode: 500, message: 'Internal Server Error', responseBody: '{"detail":"boom"}' }, 'answered 500: Internal Server Error: {"detail":"boom"}'],
    ['a body without a message', { statusCode: 500, message: '', responseBody: 'boom' }, 'answered 500: boom'],
    ['no page', { statusCode: 502, message: 'Bad Gateway', responseBody: '\n<html>' }, 'answered 502: Bad Gateway'],
    ['that nothing was said', { statusCode: 500, message: '' }, 'answered 500: no message'],
    ['why an answer broke off', { statusCode: 200, message: 'x', cause: new TypeError('terminated', { cause: new Error('other side closed') }) }, 'broke off its answer: other side closed'],
    ['an error that was part of the answer', { statusCode: 200, message: 'x', cause: { message: 'overloaded', code: 529 } }, 'broke off its answer: overloaded'],
  ])('tells %s', (_what, options, sentence) => {
    expect(describeFailure(apiError(options))).toBe(`the model endpoint ${url} ${sentence}`)
  })

  it('leaves the query of the address out, and a name that is no address as it is', () => {
    expect(describeFailure(apiError({ url: `${url}?key=abc`, statusCode: 500, message: 'no' }))).toBe(`the model endpoint ${url} answered 500: no`)
    expect(describeFailure(apiError({ url: 'script demo.yml', statusCode: 500, message: 'no' }))).toBe('the model endpoint script demo.yml answered 500: no')
  })

  it('recognises an API error by its shape, whichever copy of the AI SDK it is from', () => {
    expect(describeFailure(Object.assign(new Error('no'), { url, statusCode: 429 }))).toBe(`the model endpoint ${url} answered 429: no`)
  })

  it('is one line', () => {
    expect(describeFailure(new Error('first\n  second\n'))).toBe('first second')
  })

  it.each([
    ['an error with a code', Object.assign(new Error('no such file'), { code: 'ENOENT' }), 'no such file (ENOENT)'],
    ['an error without a message', new RangeError(), 'RangeError'],
    ['an object with a message', { message: 'overloaded' }, 'overloaded'],
    ['an object', { a: 1 }, '{"a":1}'],
    ['an object that no JSON can hold', { n: 1n }, '{ n: 1n }'],
    ['text', 'boom', 'boom'],
    ['nothing', undefined, 'undefined'],
  ])('describes %s', (_what, error, sentence) => {
    expect(describeFailure(error)).toBe(sentence)
  })

  it('is scrubbed', () => {
    expect(describeFailure(apiError({ statusCode: 401, message: 'bad key sk-proj-abcdef123456' }))).not.toContain('abcdef')
  })
})

describe('scrub', () => {
  it.each([
    ['key sk-proj-abcdef123456 is wrong', 'key [redacted] is wrong'],
    ['Authorization: Bearer abcdefgh.ijkl-mnop==', 'Authorization: Bearer [redacted]'],
    ['ghp_0123456789abcdef and xoxb-0123456789', '[redacted] and [redacted]'],
  ])('takes what looks like a key out of %j', (text, scrubbed) => {
    expect(scrub(text)).toBe(scrubbed)
  })

  it.each(['the task is done', 'max_tokens must be positive', 'a bearer of news', 'sk-1', 'task-subagent-1'])('leaves %j as it is', (text) => {
    expect(scrub(text)).toBe(text)
  })
})
