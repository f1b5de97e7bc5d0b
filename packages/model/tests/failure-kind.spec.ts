import { APICallError } from '@ai-sdk/provider'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { classifyFailure, ModelError } from '../src/index.ts'

const url = 'http://127.0.0.1:8000/v1/chat/completions'

/** The error of an endpoint that answers `status` with `body`, of which the adapter understood nothing but the message. */
function answered(status: number, body: unknown, headers: Record<string, string> = {}): APICallError {
  const responseBody = typeof body === 'string' ? body : JSON.stringify(body)
  return new APICallError({ message: 'no', url, requestBodyValues: {}, statusCode: status, responseHeaders: headers, responseBody })
}

const gemini = (quotaId: string, ...details: object[]): object => [{
  error: {
    code: 429,
    message: 'You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.',
    status: 'RESOURCE_EXHAUSTED',
    details: [{ '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] }, ...details],
  },
}]

afterEach(() => { vi.useRealTimers() })

describe('a rate limit is', () => {
  it.each<[string, unknown, number?]>([
    ['429, whatever is in it', answered(429, '')],
    ['OpenAI, per minute', answered(429, { error: { message: 'Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2295. Please try again in 634ms. Visit https://platform.openai.com/account/rate-limits to learn more.', type: 'tokens', param: null, code: 'rate_limit_exceeded' } }), 634],
    ['OpenAI, per day, over soon', answered(429, { error: { message: 'Rate limit reached for gpt-4 on tokens per day (TPD): Limit 1500000, Used 1484072, Requested 16144. Please try again in 1m9.696s.', type: 'tokens', code: 'rate_limit_exceeded' } }), 69_696],
    ['Azure OpenAI', answered(429, { error: { code: '429', message: 'Requests to the ChatCompletions_Create Operation under Azure OpenAI API have exceeded token rate limit of your current AIServices S0 pricing tier. Please retry after 20 seconds.' } }), 20_000],
    ['Anthropic', answered(429, { type: 'error', error: { type: 'rate_limit_error', message: 'This request would exceed the rate limit for your organization of 20,000 input tokens per minute. Please reduce the prompt length or the maximum tokens requested, or try again later.' } }, { 'retry-after': '38' }), 38_000],
    ['Anthropic, overloaded', answered(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })],
    ['Anthropic, overloaded, as 500', answered(500, { type: 'error', error: { type: 'api_error', message: 'Overloaded' } })],
    ['Gemini, per minute, which it calls a quota', answered(429, gemini('GenerateRequestsPerMinutePerProjectPerModel-FreeTier', { '@type': 'type.googleapis.com/google.rpc.RetryInfo', 'retryDelay': '38.6s' })), 38_600],
    ['Gemini, exhausted', answered(429, { error: { code: 429, message: 'Resource has been exhausted (e.g. check quota).', status: 'RESOURCE_EXHAUSTED' } })],
    ['Gemini, overloaded', answered(503, { error: { code: 503, message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE' } })],
    ['Bedrock', answered(400, { message: 'Too many tokens, please wait before trying again.' }, { 'x-amzn-ErrorType': 'ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/' })],
    ['OpenRouter, for the vendor behind it', answered(429, { error: { message: 'Provider returned error', code: 429, metadata: { raw: 'z-ai/glm-5.3 is temporarily rate-limited upstream. Please retry shortly, or add your own key.', provider_name: 'BaseTen' } } })],
    ['Mistral', answered(429, { object: 'error', message: 'Rate limit exceeded', type: 'rate_limited', param: null, code: '1300' })],
    ['Moonshot', answered(429, { error: { message: 'Your account org-1 request reached max request: 3, please try again after 1 seconds', type: 'rate_limit_reached_error' } }), 1000],
    ['Moonshot, overloaded', answered(429, { error: { message: 'The engine is currently overloaded, please try again later', type: 'engine_overloaded_error' } })],
    ['z.ai', answered(429, { error: { code: '1302', message: 'High concurrency usage of this API, please reduce concurrency or contact customer service to increase limits' } })],
    ['503 that says when to come back', answered(503, '<html>maintenance</html>', { 'Retry-After': '5' }), 5000],
    ['the error part of a stream', { message: 'Overloaded', type: 'overloaded_error' }],
    ['the error part of a stream, by its status', { message: 'Provider returned error', code: 429 }],
    ['the same, as an endpoint\'s model reports it', new APICallError({ message: 'broken answer', url, requestBodyValues: {}, statusCode: 200, cause: { message: 'slow down', code: 'rate_limit_exceeded' } })],
    ['an error of another copy of the AI SDK', Object.assign(new Error('Too Many Requests'), { url, statusCode: 429, responseHeaders: { 'retry-after-ms': '120' } }), 120],
    ['an error with nothing but a message', new Error('429 Too Many Requests')],
  ])('%s', (_what, error, retryAfterMs) => {
    expect(classifyFailure(error)).toEqual(retryAfterMs === undefined ? { kind: 'rate-limit' } : { kind: 'rate-limit', retryAfterMs })
  })
})

describe('how long a rate limit lasts', () => {
  it.each([
    ['seconds', { 'retry-after': '30' }, 30_000],
    ['parts of a second', { 'retry-after': '0.5' }, 500],
    ['milliseconds, which are more exact', { 'retry-after': '1', 'retry-after-ms': '250' }, 250],
    ['a date', { 'retry-after': 'Fri, 31 Jan 2025 12:01:00 GMT' }, 60_000],
    ['a date that is over', { 'retry-after': 'Fri, 31 Jan 2025 11:00:00 GMT' }, 0],
    ['nothing that can be read', { 'retry-after': 'soon' }, undefined],
    ['less than nothing', { 'retry-after': '-5' }, undefined],
  ])('is read from %s', (_what, headers, retryAfterMs) => {
    vi.useFakeTimers({ now: Date.parse('2025-01-31T12:00:00Z') })
    expect(classifyFailure(answered(429, '', headers as Record<string, string>))).toEqual({ kind: 'rate-limit', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })
  })
})

describe('a quota is', () => {
  it.each<[string, unknown]>([
    ['402, whatever is in it', answered(402, '')],
    ['OpenAI', answered(429, { error: { message: 'You exceeded your current quota, please check your plan and billing details.', type: 'insufficient_quota', param: null, code: 'insufficient_quota' } })],
    ['OpenAI, as the adapter read it', new APICallError({ message: 'You exceeded your current quota', url, requestBodyValues: {}, statusCode: 429, data: { error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: null } } })],
    ['OpenAI, the month\'s limit', answered(400, { error: { message: 'Billing hard limit has been reached', type: 'invalid_request_error', code: 'billing_hard_limit_reached' } })],
    ['Anthropic', answered(400, { type: 'error', error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.' } })],
    ['Gemini, per day', answered(429, gemini('GenerateRequestsPerDayPerProjectPerModel-FreeTier'))],
    ['Bedrock, per day', answered(429, { message: 'Too many tokens per day, please wait before trying again.' })],
    ['OpenRouter', answered(402, { error: { message: 'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 2000.', code: 402 } })],
    ['OpenRouter, per day', answered(429, { error: { message: 'Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day', code: 429 } })],
    ['DeepSeek', answered(402, { error: { message: 'Insufficient Balance', type: 'unknown_error', param: null, code: 'invalid_request_error' } })],
    ['xAI', answered(429, { code: 'Some resource has been exhausted', error: 'Your team 1 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.' })],
    ['xAI, forbidden', answered(403, { code: 'permission-denied', error: 'You have run out of credits or need a Grok subscription.' })],
    ['Moonshot', answered(429, { error: { message: 'Your account org-1 is suspended, please check your plan and billing details', type: 'exceeded_current_quota_error' } })],
    ['Moonshot, behind a router', answered(429, { error: { message: 'Provider returned error', code: 429, metadata: { raw: '{"error":{"message":"Your account org-1 is suspended due to insufficient balance, please recharge your account"}}' } } })],
    ['z.ai', answered(429, { error: { code: '1113', message: '余额不足或无可用资源包,请充值。' } })],
    ['DashScope', answered(400, { code: 'Arrearage', message: 'Access denied, please make sure your account is in good standing.' })],
    ['the error part of a stream', { message: 'You exceeded your current quota', type: 'insufficient_quota' }],
  ])('%s', (_what, error) => {
    expect(classifyFailure(error)).toEqual({ kind: 'quota' })
  })
})

describe('a context overflow is', () => {
  it.each<[string, unknown]>([
    ['413, whatever is in it', answered(413, '<html>Request Entity Too Large</html>')],
    ['OpenAI', answered(400, { error: { message: 'This model\'s maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens. Please reduce the length of the messages.', type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' } })],
    ['OpenAI, Responses', { type: 'error', message: 'Your input exceeds the context window of this model. Please adjust your input and try again.' }],
    ['OpenAI, more than a minute\'s tokens', answered(429, { error: { message: 'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced in order to run successfully.', type: 'tokens', code: 'rate_limit_exceeded' } })],
    ['Anthropic', answered(400, { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 213462 tokens > 200000 maximum' } })],
    ['Anthropic, with its answer', answered(400, { type: 'error', error: { type: 'invalid_request_error', message: 'input length and `max_tokens` exceed context limit: 170636 + 34048 > 200000, decrease input length or `max_tokens` and try again' } })],
    ['Gemini', answered(400, [{ error: { code: 400, message: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).', status: 'INVALID_ARGUMENT' } }])],
    ['Bedrock', answered(400, { message: 'Input is too long for requested model.' })],
    ['xAI', answered(400, { code: 'Client specified an invalid argument', error: 'This model\'s maximum prompt length is 131072 but the request contains 537812 tokens.' })],
    ['Groq', answered(400, { error: { message: 'Please reduce the length of the messages or completion.', type: 'invalid_request_error', param: 'messages' } })],
    ['Groq, more than a minute\'s tokens', answered(413, { error: { message: 'Request too large for model `llama-3.3-70b-versatile` on tokens per minute (TPM): Limit 6000, Requested 14810, please reduce your message size and try again.', type: 'tokens', code: 'rate_limit_exceeded' } })],
    ['OpenRouter', answered(400, { error: { message: 'This endpoint\'s maximum context length is 1048576 tokens. However, you requested about 1293741 tokens', code: 400 } })],
    ['LiteLLM, as 503', answered(503, { error: { message: 'litellm.ServiceUnavailableError: OpenAIException - Requested token count exceeds the model\'s maximum context length of 131072 tokens.', code: '503' } })],
    ['vLLM', answered(400, { object: 'error', message: 'This model\'s maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens. Please reduce the length of the input prompt.', type: 'BadRequestError', code: 400 })],
    ['llama.cpp', answered(400, { error: { code: 400, message: 'the request exceeds the available context size, try increasing it', type: 'exceed_context_size_error' } })],
    ['LM Studio', answered(400, { error: 'The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length' })],
    ['Ollama', answered(400, { error: { message: 'prompt too long; exceeded max context length by 100918 tokens' } })],
    ['Together', answered(400, { error: { message: 'The input (516368 tokens) is longer than the model\'s context length (262144 tokens).' } })],
    ['Mistral', answered(400, { object: 'error', message: 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length', type: 'invalid_request_prompt' })],
    ['MiniMax', answered(400, { error: { message: 'invalid params, context window exceeds limit (2013)' } })],
    ['Moonshot', answered(400, { error: { message: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 270000)', type: 'invalid_request_error' } })],
    ['z.ai', answered(400, { error: { code: '1261', message: 'Prompt exceeds max length' } })],
    ['DashScope', answered(400, { error: { code: 'invalid_parameter_error', message: '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]' } })],
    ['Copilot', answered(400, { error: { message: 'prompt token count of 168000 exceeds the limit of 128000', code: 'model_max_prompt_tokens_exceeded' } })],
    ['Poolside', answered(400, { error: { message: 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.' } })],
  ])('%s', (_what, error) => {
    expect(classifyFailure(error)).toEqual({ kind: 'context-overflow' })
  })
})

describe('nothing of that is', () => {
  it.each<[string, unknown]>([
    ['a server error', answered(500, { error: { message: 'The server had an error while processing your request. Sorry about that!', type: 'server_error' } })],
    ['503 that does not say when to come back', answered(503, '<html>Service Unavailable</html>')],
    ['a wrong key', answered(401, { error: { message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' } })],
    ['an output limit that is too high', answered(400, { error: { message: 'max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.', type: 'invalid_request_error', param: 'max_tokens', code: 'invalid_value' } })],
    ['a wrong request that quotes the conversation', answered(400, { error: { message: 'Invalid value' }, input: 'the prompt is too long, the rate limit too low, the quota exceeded' })],
    ['an endpoint that cannot be reached', new APICallError({ message: 'Cannot connect to API', url, requestBodyValues: {}, cause: new TypeError('fetch failed', { cause: Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' }) }) })],
    ['an abort', new DOMException('This operation was aborted', 'AbortError')],
    ['a page', answered(502, '<html>rate limit, quota, prompt is too long</html>')],
    ['a request that was given up here', new ModelError('RATE_LIMITED', 'answered 429: Rate limit reached; tried 8 times in 60 s')],
    ['text', 'boom'],
    ['nothing', undefined],
  ])('%s', (_what, error) => {
    expect(classifyFailure(error)).toBeUndefined()
  })

  it('an error that is its own cause', () => {
    const error = new Error('boom')
    error.cause = error
    expect(classifyFailure(error)).toBeUndefined()
  })
})
