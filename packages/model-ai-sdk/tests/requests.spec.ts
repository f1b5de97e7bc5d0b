import type { LanguageModelV3FunctionTool, LanguageModelV3Message, LanguageModelV3ToolCallPart } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { extendsRequest, messagesOf, type RecordedRequest, toolsOf } from '../src/testing.ts'
import { ask, endpointWith, partOf, say } from './support.ts'

function tool(name: string): LanguageModelV3FunctionTool {
  return { type: 'function', name, description: `does ${name}`, inputSchema: { type: 'object', properties: {} } }
}

/** What an agent logs for a call, as the documentation of `Message` says. */
function logged(toolCallId: string, sent: string, input: unknown): LanguageModelV3ToolCallPart {
  return { type: 'tool-call', toolCallId, toolName: 'look', input, providerOptions: { offshoot: { input: sent } } }
}

function result(toolCallId: string, value: string): LanguageModelV3Message {
  return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName: 'look', output: { type: 'text', value } }] }
}

async function argumentsOnTheWire(part: LanguageModelV3ToolCallPart): Promise<{ sent: string, request: RecordedRequest }> {
  const { endpoint, model } = await endpointWith()
  await ask(model, { prompt: [...say('go'), { role: 'assistant', content: [part] }, result(part.toolCallId, 'seen')] })
  const request = endpoint.requests[0]!
  return { sent: messagesOf(request)[1]!.tool_calls![0]!.function.arguments, request }
}

describe('a request', () => {
  it('goes to /chat/completions under the base URL, with the model, the key and the headers', async () => {
    const { endpoint, model } = await endpointWith(undefined, { apiKey: 'sk-0123456789', headers: { 'x-team': 'blue' } })
    await ask(model)
    const [request] = endpoint.requests
    expect(request).toMatchObject({ path: '/v1/chat/completions', headers: { 'authorization': 'Bearer sk-0123456789', 'x-team': 'blue' } })
    expect(request!.body).toMatchObject({ model: 'test-model', stream: true, stream_options: { include_usage: true } })
  })

  it('accepts a base URL that ends with a slash, and sends no key where there is none', async () => {
    const { endpoint } = await endpointWith()
    const { model } = await endpointWith(undefined, { baseURL: `${endpoint.baseURL}/` })
    await ask(model)
    expect(endpoint.requests[0]!.path).toBe('/v1/chat/completions')
    expect(endpoint.requests[0]!.headers).not.toHaveProperty('authorization')
  })

  it('sends the tools in the order given', async () => {
    const { endpoint, model } = await endpointWith()
    await ask(model, { tools: [tool('zebra'), tool('apple'), tool('mango')] })
    expect(toolsOf(endpoint.requests[0]!)).toEqual(['zebra', 'apple', 'mango'])
  })

  it('carries the configured providerOptions in its body', async () => {
    const { endpoint, model } = await endpointWith(undefined, { providerOptions: { reasoningEffort: 'low', temperature: 0.2, top_k: 4, service: { tier: 'flex' } } })
    await ask(model)
    expect(endpoint.requests[0]!.body).toMatchObject({ reasoning_effort: 'low', temperature: 0.2, top_k: 4, service: { tier: 'flex' } })
    expect(endpoint.requests[0]!.body).not.toHaveProperty('reasoningEffort')
  })

  it('lets its own options and output limit go before the configured ones', async () => {
    const { endpoint, model } = await endpointWith(undefined, { providerOptions: { reasoningEffort: 'low', max_tokens: 9000, top_k: 4 } })
    await ask(model, { maxOutputTokens: 50, providerOptions: { openaiCompatible: { reasoningEffort: 'high', user: 'u1', seed_group: 7 } } })
    expect(endpoint.requests[0]!.body).toMatchObject({ reasoning_effort: 'high', max_tokens: 50, top_k: 4, user: 'u1', seed_group: 7 })
  })

  it('never carries providerOptions.offshoot, of the request or of its parts', async () => {
    const { endpoint, model } = await endpointWith()
    await ask(model, {
      prompt: [...say('go'), { role: 'assistant', content: [logged('c1', '{"a": 1}', { a: 1 })] }, result('c1', 'seen')],
      providerOptions: { offshoot: { label: 'main', step: 1 } },
    })
    expect(endpoint.requests[0]!.text).not.toMatch(/offshoot|label|step/)
  })
})

describe('a tool call that is sent back', () => {
  it.each([
    ['spaces', '{ "path" :  "a.txt" }'],
    ['number notation', '{"n": 1.0, "m": 1e3}'],
    ['a key twice', '{"a": 1, "a": 2}'],
    ['escapes', String.raw`{"s": "\u0041\/"}`],
    ['__proto__', '{"__proto__": {"x": 1}}'],
  ])('has exactly the argument bytes that the model sent (%s)', async (_what, text) => {
    const { sent } = await argumentsOnTheWire(logged('c1', text, JSON.parse(text)))
    expect(sent).toBe(text)
  })

  it.each(['{"path": ', 'not json', '[1, 2]', '"text"', 'null', ''])('has {} for arguments that were no JSON object (%j)', async (text) => {
    const { sent } = await argumentsOnTheWire(logged('c1', text, {}))
    expect(sent).toBe('{}')
  })

  it('has what its input says where that is no longer what was sent', async () => {
    const { sent } = await argumentsOnTheWire(logged('c1', '{"path": "secret"}', { path: 'public' }))
    expect(sent).toBe('{"path":"public"}')
  })

  it('has its input, serialised, where the log holds no text of its own', async () => {
    const { sent } = await argumentsOnTheWire({ type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: { b: 1, a: [2] } })
    expect(sent).toBe('{"b":1,"a":[2]}')
  })

  it('keeps its id and name, and leaves the prompt it was given as it was', async () => {
    const part = Object.freeze(logged('c1', '{"a": 1}', Object.freeze({ a: 1 })))
    const before = structuredClone(part)
    const { request } = await argumentsOnTheWire(part)
    expect(messagesOf(request)[1]!.tool_calls).toEqual([{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a": 1}' } }])
    expect(part).toEqual(before)
  })
})

describe('what a model said', () => {
  it('comes back with its reasoning', async () => {
    const { endpoint, model } = await endpointWith(() => ({ reasoning: 'It is a greeting.', text: 'hi' }))
    const parts = await ask(model)
    const reasoning = parts.flatMap(part => part.type === 'reasoning-delta' ? [part.delta] : []).join('')
    await ask(model, { prompt: [...say('hello'), { role: 'assistant', content: [{ type: 'reasoning', text: reasoning }, { type: 'text', text: 'hi' }] }, ...say('bye').slice(1)] })
    expect(messagesOf(endpoint.requests[1]!)[1]).toEqual({ role: 'assistant', content: 'hi', reasoning_content: 'It is a greeting.' })
  })

  it("comes back with Gemini's thought signature on the tool call, and nothing else", async () => {
    const extraContent = { google: { thought_signature: 'c2lnbmF0dXJl' } }
    const { endpoint, model } = await endpointWith(() => ({ calls: [{ id: 'c1', name: 'look', arguments: '{"a": 1}', extraContent }] }))
    const { toolCallId, toolName, input, providerMetadata } = partOf(await ask(model), 'tool-call')
    const call: LanguageModelV3ToolCallPart = {
      type: 'tool-call', toolCallId, toolName, input: JSON.parse(input), providerOptions: { ...providerMetadata, offshoot: { input } },
    }
    await ask(model, { prompt: [...say('hello'), { role: 'assistant', content: [call] }, result('c1', 'seen')] })
    expect(messagesOf(endpoint.requests[1]!)[1]!.tool_calls).toEqual([
      { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a": 1}' }, extra_content: extraContent },
    ])
  })

  it('makes each request a byte-for-byte extension of the one before', async () => {
    const { endpoint, model } = await endpointWith((_request, index) => index < 3
      ? { reasoning: `look ${index}`, text: index === 1 ? 'And again.' : [], calls: [{ name: 'look', arguments: `{"n":  ${index}.0}` }] }
      : { text: 'done' })
    const prompt = say('hello')
    for (let step = 0; step < 4; step++) {
      const content: (LanguageModelV3Message & { role: 'assistant' })['content'] = []
      for (const part of await ask(model, { prompt: [...prompt], tools: [tool('look')] })) {
        if (part.type === 'reasoning-delta') content.push({ type: 'reasoning', text: part.delta })
        if (part.type === 'text-delta') content.push({ type: 'text', text: part.delta })
        if (part.type === 'tool-call') content.push(logged(part.toolCallId, part.input, JSON.parse(part.input)))
      }
      prompt.push({ role: 'assistant', content })
      for (const part of content) if (part.type === 'tool-call') prompt.push(result(part.toolCallId, `seen ${step}`))
    }
    expect(endpoint.requests.map(request => request.body.messages.length)).toEqual([2, 4, 6, 8])
    for (let n = 1; n < 4; n++) expect(extendsRequest(endpoint.requests[n - 1]!, endpoint.requests[n]!)).toBe(true)
    expect(messagesOf(endpoint.requests[3]!)[1]!.tool_calls![0]!.function.arguments).toBe('{"n":  0.0}')
  })
})
