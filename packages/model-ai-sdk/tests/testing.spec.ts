import { describe, expect, it } from 'vitest'
import { extendsRequest, messagesOf, startEndpoint, toolsOf } from '../src/testing.ts'
import { ask, endpointWith, gate, partOf, say } from './support.ts'

describe('startEndpoint', () => {
  it('records what each request asked, and answers with what the handler says', async () => {
    const { endpoint, model } = await endpointWith((request, index) => ({ text: `${index}: ${JSON.stringify(messagesOf(request)[0]!.content)}` }))
    expect(partOf(await ask(model), 'text-delta').delta).toBe('0: "hello"')
    endpoint.respond(() => ({ text: 'changed' }))
    expect(partOf(await ask(model), 'text-delta').delta).toBe('changed')
    expect(endpoint.requests.map(request => request.path)).toEqual(['/v1/chat/completions', '/v1/chat/completions'])
    expect(JSON.parse(endpoint.requests[0]!.text)).toEqual(endpoint.requests[0]!.body)
    expect(toolsOf(endpoint.requests[0]!)).toEqual([])
  })

  it('streams text in the given pieces, and tool calls with their arguments as given', async () => {
    const { model } = await endpointWith(() => ({
      reasoning: 'why', text: ['a', 'b'], calls: [{ id: 'x', name: 'one', arguments: '{broken' }, { name: 'two', arguments: { a: 1 } }],
    }))
    const parts = await ask(model)
    expect(parts.flatMap(part => part.type === 'text-delta' ? [part.delta] : [])).toEqual(['a', 'b'])
    expect(parts.filter(part => part.type === 'tool-call')).toMatchObject([
      { toolCallId: 'x', toolName: 'one', input: '{broken' }, { toolCallId: 'call_0_1', toolName: 'two', input: '{"a":1}' },
    ])
    expect(partOf(parts, 'finish')).toMatchObject({ finishReason: { unified: 'tool-calls' }, usage: { inputTokens: { total: 100 }, outputTokens: { total: 20 } } })
  })

  it('holds the answer, or its rest, until it is let go', async () => {
    const gates = [gate(), gate()] as const
    const { model } = await endpointWith(() => ({ text: ['a', 'b'], hold: gates[0].opened, holdAfter: gates[1].opened }))
    const started = model.doStream({ prompt: say('go') })
    gates[0].open()
    const seen: string[] = []
    for await (const part of (await started).stream) {
      if (part.type === 'text-delta') seen.push(part.delta)
      if (seen.length === 1) gates[1].open()
    }
    expect(seen).toEqual(['a', 'b'])
  })

  it('answers a handler that throws with a 500 that says so', async () => {
    const { model } = await endpointWith(() => { throw new Error('no such case') })
    await expect(ask(model)).rejects.toMatchObject({ statusCode: 500, message: "the test's handler failed: no such case" })
  })

  it('ends every connection when it is closed, and can be closed again', async () => {
    const endpoint = await startEndpoint(() => ({ hold: new Promise(() => {}) }))
    const arrived = gate()
    endpoint.respond(() => {
      arrived.open()
      return { hold: new Promise(() => {}) }
    })
    const pending = fetch(`${endpoint.baseURL}/chat/completions`, { method: 'POST', body: '{"messages":[]}' })
    await arrived.opened
    await endpoint.close()
    await expect(pending).rejects.toThrow('fetch failed')
    await endpoint[Symbol.asyncDispose]()
  })
})

describe('extendsRequest', () => {
  async function record(...bodies: object[]) {
    const { endpoint } = await endpointWith()
    for (const body of bodies) await (await fetch(`${endpoint.baseURL}/chat/completions`, { method: 'POST', body: JSON.stringify(body) })).text()
    return [endpoint.requests[0]!, endpoint.requests[1]!] as const
  }
  const [system, user, tools] = [{ role: 'system', content: 's' }, { role: 'user', content: 'u' }, [{ type: 'function', function: { name: 't' } }]]

  it.each([
    ['more messages', { messages: [system], tools }, { messages: [system, user], tools }, true],
    ['the same messages', { messages: [system], tools }, { messages: [system], tools }, true],
    ['fewer messages', { messages: [system, user], tools }, { messages: [system], tools }, false],
    ['a message that changed', { messages: [system] }, { messages: [{ ...system, content: 'x' }, user] }, false],
    ['a message that grew', { messages: [user] }, { messages: [{ ...user, name: 'n' }] }, false],
    ['other tools', { messages: [system] }, { messages: [system, user], tools }, false],
  ])('tells %s', async (_what, before, after, expected) => {
    expect(extendsRequest(...await record(before, after))).toBe(expected)
  })
})
