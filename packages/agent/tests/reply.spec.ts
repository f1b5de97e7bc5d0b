import { type LanguageModel, type ModelStreamPart, syncParts } from '@offshoot/model'
import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { expectBalanced, finish, messagesOf, resultsOf, start, streamingAs, tool, transcript } from './support.ts'

function text(id: string, ...deltas: string[]): ModelStreamPart[] {
  return [{ type: 'text-start', id }, ...deltas.map(delta => ({ type: 'text-delta' as const, id, delta })), { type: 'text-end', id }]
}

function call(toolCallId: string, toolName: string, input: string): ModelStreamPart {
  return { type: 'tool-call', toolCallId, toolName, input }
}

function isDeepFrozen(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.isFrozen(value) && Object.values(value).every(isDeepFrozen)
}

describe('the message of a reply', () => {
  it('has the deltas of each block together, and the blocks in the order in which they started', async () => {
    const parts: ModelStreamPart[] = [
      { type: 'text-start', id: 'a' }, { type: 'text-start', id: 'b' },
      { type: 'text-delta', id: 'b', delta: 'second' }, { type: 'text-delta', id: 'a', delta: 'fi' }, { type: 'text-delta', id: 'a', delta: 'rst' },
      { type: 'text-end', id: 'b' }, { type: 'text-end', id: 'a' }, finish(),
    ]
    const { ctx } = await start([{ parts }])
    const agent = ctx.agents.create()
    const result = await agent.run('Go.')
    expect(result.output).toEqual([{ type: 'text', text: 'first' }, { type: 'text', text: 'second' }])
    expect(messagesOf(agent.session)[1]!.content).toEqual(result.output)
  })

  it('keeps blocks of one id apart, when one ended before the next began', async () => {
    const { ctx } = await start([{ parts: [...text('0', 'one'), ...text('0', 'two'), finish()] }])
    expect((await ctx.agents.create().run('Go.')).output).toEqual([{ type: 'text', text: 'one' }, { type: 'text', text: 'two' }])
  })

  it('takes a delta whose start never came', async () => {
    const { ctx } = await start([{ parts: [{ type: 'text-delta', id: 'x', delta: 'Hi' }, { type: 'text-delta', id: 'x', delta: '.' }, finish()] }])
    expect((await ctx.agents.create().run('Go.')).output).toEqual([{ type: 'text', text: 'Hi.' }])
  })

  it('has no empty block, and no sources, warnings, raw chunks or half of a tool\'s input', async () => {
    const parts: ModelStreamPart[] = [
      { type: 'stream-start', warnings: [] }, ...text('a'), { type: 'reasoning-start', id: 'r' }, { type: 'reasoning-end', id: 'r' },
      { type: 'source', sourceType: 'url', id: 's', url: 'https://example.org' }, { type: 'raw', rawValue: {} },
      { type: 'tool-input-start', id: 'c', toolName: 'look' }, { type: 'tool-input-delta', id: 'c', delta: '{' }, { type: 'tool-input-end', id: 'c' },
      ...text('b', 'Hi.'), finish(),
    ]
    const { ctx } = await start([{ parts }])
    const agent = ctx.agents.create()
    await agent.run('Go.')
    expect(messagesOf(agent.session)[1]).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] })
  })

  it('is frozen through and through, and survives JSON, like everything in the log', async () => {
    const { ctx } = await start([
      { reasoning: 'Hm.', text: 'Let me', calls: [{ name: 'look', args: '{"a": {"b": [1, {"c": 2}]}}' }, { name: 'picture' }, { name: 'nothing', args: '[' }] },
      { parts: [{ type: 'file', mediaType: 'image/png', data: Uint8Array.of(1, 2, 3) }, ...text('t', 'Done.'), finish()] },
    ])
    ctx.tools.register(tool('look', { parameters: Type.Object({ a: Type.Any() }) }))
    ctx.tools.register(tool('picture', { execute: () => [{ type: 'text', text: 'Here:' }, { type: 'file', data: 'aGk=', mediaType: 'image/png' }] }))
    const agent = ctx.agents.create()
    await agent.run([{ type: 'text', text: 'Go.' }, { type: 'file', data: 'https://example.org/a.png', mediaType: 'image/png' }])
    const messages = messagesOf(agent.session)
    expect(messages).toHaveLength(4)
    for (const message of messages) {
      expect(isDeepFrozen(message)).toBe(true)
      expect(JSON.parse(JSON.stringify(message))).toEqual(message)
    }
  })
})

describe('reasoning', () => {
  const signed = { vendor: { signature: 'abc' } }

  it('is kept with its provider\'s latest metadata, and sent back as it is', async () => {
    const parts: ModelStreamPart[] = [
      { type: 'reasoning-start', id: 'r', providerMetadata: { vendor: { itemId: 'rs_1' } } },
      { type: 'reasoning-delta', id: 'r', delta: 'Look first.' },
      { type: 'reasoning-end', id: 'r', providerMetadata: signed },
      { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{}', providerMetadata: { vendor: { thought: 'xyz' } } },
      finish('tool-calls'),
    ]
    const { ctx, model } = await start([{ parts }, 'Done.'])
    ctx.tools.register(tool('look'))
    await ctx.agents.create().run('Go.')
    expect(model.requests[1]!.prompt[2]).toEqual({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Look first.', providerOptions: signed },
        { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: {}, providerOptions: { vendor: { thought: 'xyz' } } },
      ],
    })
  })

  it('without text is kept for its metadata: it may be encrypted', async () => {
    const { ctx, model } = await start([
      { parts: [{ type: 'reasoning-start', id: 'r' }, { type: 'reasoning-end', id: 'r', providerMetadata: signed }, call('c', 'look', '{}'), finish('tool-calls')] },
      'Done.',
    ])
    ctx.tools.register(tool('look'))
    await ctx.agents.create().run('Go.')
    expect(model.requests[1]!.prompt[2]!.content).toContainEqual({ type: 'reasoning', text: '', providerOptions: signed })
  })

  it('is no answer, and no output', async () => {
    const { ctx } = await start([{ reasoning: 'I know.' }, { reasoning: 'I do.', text: '42' }])
    expect((await ctx.agents.create().run('Go.')).output).toEqual([{ type: 'text', text: '42' }])
  })

  it('in a prompt is told as text: it is not the model\'s own', async () => {
    const { ctx, model } = await start(['ok'])
    await ctx.agents.create().run([{ type: 'reasoning', text: 'Somebody thought this.' }])
    expect(model.requests[0]!.prompt[1]).toEqual({ role: 'user', content: [{ type: 'text', text: 'Somebody thought this.' }] })
  })
})

describe('the arguments of a call', () => {
  it.each(['not json', '{"half": ', '[1]', '"text"', 'null'])('that are no JSON object (%s) stay as sent in the log, go back as {}, and get an error', async (args) => {
    const { ctx, model } = await start([{ calls: [{ name: 'look', args, id: 'c' }] }, 'Done.'])
    let ran = 0
    ctx.tools.register(tool('look', { execute: () => `${++ran}` }))
    const agent = ctx.agents.create()
    expect((await agent.run('Go.')).stopReason).toBe('completed')
    expect(ran).toBe(0)
    expect(messagesOf(agent.session)[1]!.content).toEqual([{ type: 'tool-call', toolCallId: 'c', toolName: 'look', input: {}, providerOptions: { offshoot: { input: args } } }])
    expect(model.requests[1]!.prompt[2]).toBe(messagesOf(agent.session)[1])
    expect(resultsOf(agent.session)).toEqual([{ type: 'error-text', value: 'Error: the arguments of "look" are not a JSON object; send the call again with valid JSON' }])
    expectBalanced(agent.session)
  })

  it('that do not fit the tool\'s parameters get an error that says what does not', async () => {
    const { ctx } = await start([{ calls: [{ name: 'look', args: { at: 1 } }] }, 'Done.'])
    ctx.tools.register(tool('look', { parameters: Type.Object({ at: Type.String() }) }))
    const agent = ctx.agents.create()
    await agent.run('Go.')
    expect(transcript(agent.session)).toContain('tool: Error: invalid arguments for "look": at: expected string')
  })

  it('keep the bytes that the model sent, where JSON would not give them back', async () => {
    const { ctx } = await start([{ calls: [{ name: 'look', args: '{ "at": 1.0 }' }, { name: 'look', args: '{"at":1}' }, { name: 'look', args: '' }] }, 'Done.'])
    const seen: unknown[] = []
    ctx.tools.register(tool('look', { parameters: Type.Object({ at: Type.Optional(Type.Number()) }), execute: args => { seen.push(args); return '' } }))
    const agent = ctx.agents.create()
    await agent.run('Go.')
    expect(seen).toEqual([{ at: 1 }, { at: 1 }, {}])
    expect(messagesOf(agent.session)[1]!.content).toMatchObject([
      { input: { at: 1 }, providerOptions: { offshoot: { input: '{ "at": 1.0 }' } } },
      { input: { at: 1 } },
      { input: {}, providerOptions: { offshoot: { input: '' } } },
    ])
    expect(messagesOf(agent.session)[1]!.content[1]).not.toHaveProperty('providerOptions')
  })
})

describe('what the vendor does itself', () => {
  const executed: ModelStreamPart[] = [
    { type: 'tool-call', toolCallId: 's', toolName: 'web_search', input: '{"q":"owls"}', providerExecuted: true },
    { type: 'tool-result', toolCallId: 's', toolName: 'web_search', result: ['half'], preliminary: true },
    { type: 'tool-result', toolCallId: 's', toolName: 'web_search', result: { hits: 2 }, providerMetadata: { vendor: { id: 'x' } } },
  ]

  it('is not ours to execute: its call and its result are the assistant\'s, and go back together', async () => {
    const { ctx, model } = await start([{ parts: [...executed, ...text('t', 'Owls.'), finish()] }, 'More.'])
    let ran = 0
    ctx.tools.register(tool('web_search', { execute: () => `${++ran}` }))
    const agent = ctx.agents.create()
    const result = await agent.run('Go.')
    expect(result).toMatchObject({ stopReason: 'completed', steps: 1, usage: { toolCalls: 0 } })
    expect(ran).toBe(0)
    await agent.run('More?')
    expect(model.requests[1]!.prompt[2]).toEqual({
      role: 'assistant',
      content: [
        { type: 'tool-call', toolCallId: 's', toolName: 'web_search', input: { q: 'owls' }, providerExecuted: true },
        { type: 'tool-result', toolCallId: 's', toolName: 'web_search', output: { type: 'json', value: { hits: 2 } }, providerOptions: { vendor: { id: 'x' } } },
        { type: 'text', text: 'Owls.' },
      ],
    })
  })

  it('goes on beside a call that is ours', async () => {
    const { ctx } = await start([{ parts: [...executed, call('c', 'look', '{}'), finish('tool-calls')] }, 'Done.'])
    ctx.tools.register(tool('look'))
    const agent = ctx.agents.create()
    expect(await agent.run('Go.')).toMatchObject({ stopReason: 'completed', usage: { toolCalls: 1 } })
    expect(resultsOf(agent.session)).toEqual([{ type: 'text', value: 'look done' }])
    expectBalanced(agent.session)
  })

  it('may fail', async () => {
    const { ctx } = await start([{ parts: [{ type: 'tool-result', toolCallId: 's', toolName: 'web_search', result: 'no net', isError: true }, ...text('t', 'Sorry.'), finish()] }])
    const agent = ctx.agents.create()
    await agent.run('Go.')
    expect(messagesOf(agent.session)[1]!.content[0]).toMatchObject({ output: { type: 'error-json', value: 'no net' } })
  })
})

it('a file that the model made is kept as base64 and sent back; alone it is no answer', async () => {
  const png = { type: 'file', mediaType: 'image/png' } as const
  const { ctx, model } = await start([{ parts: [{ ...png, data: Uint8Array.of(104, 105) }, { ...png, data: 'aGk=' }, finish()] }, 'A picture.'])
  const agent = ctx.agents.create()
  expect(await agent.run('Draw.')).toMatchObject({ stopReason: 'completed', output: [{ type: 'text', text: 'A picture.' }], steps: 2 })
  expect(model.requests[1]!.prompt[2]).toEqual({ role: 'assistant', content: [{ ...png, data: 'aGk=' }, { ...png, data: 'aGk=' }] })
})

describe('a stream', () => {
  it('may be any async iterable', async () => {
    const { ctx, model } = await start([{ reasoning: 'Hm.', text: 'Let me', calls: [{ name: 'look' }] }, 'Done.'])
    ctx.models.register('generator', streamingAs(model, async function* (parts) { yield* parts }))
    const agent = ctx.agents.create({ model: 'generator' })
    expect((await agent.run('Go.')).stopReason).toBe('completed')
    expect(transcript(agent.session)).toEqual(['user: Go.', 'assistant: Hm. Let me call(look)', 'tool: Error: unknown tool "look" (tools: none)', 'assistant: Done.'])
  })

  it('that offers its parts for a synchronous drain is read without a reader', async () => {
    const { ctx } = await start([])
    const unread = (): never => { throw new Error('read') }
    const model: LanguageModel = {
      specificationVersion: 'v3', provider: 'p', modelId: 'm',
      doStream: async () => ({ stream: { [syncParts]: [...text('t', 'At', ' once.'), finish()], getReader: unread, [Symbol.asyncIterator]: unread } }),
    }
    ctx.models.register('quick', model)
    expect((await ctx.agents.create({ model: 'quick' }).run('Go.')).output).toEqual([{ type: 'text', text: 'At once.' }])
  })

  it('whose synchronous parts break keeps what came', async () => {
    const { ctx } = await start([])
    const parts = function* (): Generator<ModelStreamPart> {
      yield { type: 'text-delta', id: 't', delta: 'Half' }
      throw new Error('script error')
    }
    ctx.models.register('quick', { specificationVersion: 'v3', provider: 'p', modelId: 'm', doStream: async () => ({ stream: { ...new ReadableStream(), [syncParts]: parts() } as never }) })
    expect(await ctx.agents.create({ model: 'quick' }).run('Go.')).toMatchObject({ stopReason: 'error', diagnostic: 'script error', output: [{ text: 'Half' }] })
  })
})
