import type { ModelStreamPart } from '@offshoot/model'
import type { FakeReply } from '@offshoot/model/testing'
import { textOf } from '@offshoot/session'
import { describe, expect, it } from 'vitest'
import type { StopReason } from '../src/index.ts'
import { expectBalanced, finish, start, tool, transcript } from './support.ts'

const half: ModelStreamPart[] = [{ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: 'Half an ans' }]
const wanted: [string, FakeReply, StopReason, string, RegExp?][] = [
  ['text and stop', { text: 'Yes.' }, 'completed', 'Yes.'],
  ['text and tool-calls, but no call', { text: 'Yes.', finish: 'tool-calls' }, 'completed', 'Yes.'],
  ['length', { text: 'It goes on and', finish: 'length' }, 'max-tokens', 'It goes on and', /^the output token limit cut the reply$/],
  ['length before any text', { reasoning: 'Long thoughts', finish: 'length' }, 'max-tokens', ''],
  ['content-filter', { text: 'I', finish: 'content-filter' }, 'refusal', 'I', /declined/],
  ['error', { text: 'Half', finish: 'error' }, 'error', 'Half', /^the model ended its reply with an error$/],
  ['a finish reason that nobody knows', { text: 'Looks done.', finish: 'other' }, 'error', 'Looks done.', /unknown reason \(none given\)/],
  ['no finish reason', { parts: half }, 'error', 'Half an ans', /^the model's reply ended without a finish reason$/],
  ['no stream at all', { error: new Error('the wire broke') }, 'error', '', /^the wire broke$/],
  ['a failure that says nothing', { error: null }, 'error', '', /without saying why/],
  ['a stream that breaks', { text: 'Half', breaks: new Error('cut off') }, 'error', 'Half', /^cut off$/],
  ['an error part', { parts: [...half, { type: 'error', error: 'overloaded' }, finish()] }, 'error', 'Half an ans', /^overloaded$/],
  ['an error part that says nothing', { parts: [{ type: 'error', error: undefined }, finish()] }, 'error', '', /without saying which/],
]

describe('a turn ends by what the last reply ended with:', () => {
  it.each(wanted)('%s', async (_what, reply, stopReason, output, diagnostic = /^/) => {
    const { ctx } = await start([reply])
    const agent = ctx.agents.create()
    const result = await agent.run('Go.')
    expect(result.stopReason).toBe(stopReason)
    expect(textOf(result.output)).toBe(output)
    if (stopReason === 'completed') expect(result).not.toHaveProperty('diagnostic')
    else expect(result.diagnostic).toMatch(diagnostic)
    expect(transcript(agent.session)).toEqual(output === '' && !reply.reasoning ? ['user: Go.'] : ['user: Go.', `assistant: ${output || reply.reasoning}`])
    expect(agent.state).toBe('idle')
  })
})

it('a failure that no text can be made of is still an ending, and the agent goes on', async () => {
  const circular: { self?: unknown } = {}
  circular.self = circular
  const { ctx } = await start([{ error: circular }, 'fine'])
  const agent = ctx.agents.create()
  expect(await agent.run('Go.')).toMatchObject({ stopReason: 'error', diagnostic: expect.any(String) })
  expect((await agent.run('Again.')).stopReason).toBe('completed')
})

describe('of a reply that broke', () => {
  it('only the text is kept: half of anything else could not be sent again', async () => {
    const { ctx } = await start([{ reasoning: 'Hm.', text: 'Look:', calls: [{ name: 'look' }], breaks: new Error('cut') }, 'fine'])
    let ran = 0
    ctx.tools.register(tool('look', { execute: () => `${++ran}` }))
    const agent = ctx.agents.create()
    expect((await agent.run('Go.')).stopReason).toBe('error')
    expect(ran).toBe(0)
    expect(transcript(agent.session)).toEqual(['user: Go.', 'assistant: Look:'])
    expect((await agent.run('Again.')).stopReason).toBe('completed')
    expectBalanced(agent.session)
  })
})

describe.each([['length', 'max-tokens'], ['content-filter', 'refusal']] as const)('the calls of a reply that %s cut', (finishReason, stopReason) => {
  it('are answered, and none is run', async () => {
    const { ctx } = await start([{ text: 'Both:', calls: [{ name: 'look' }, { name: 'look', args: '{"half' }], finish: finishReason }])
    let ran = 0
    ctx.tools.register(tool('look', { execute: () => `${++ran}` }))
    const agent = ctx.agents.create()
    const result = await agent.run('Go.')
    expect(result).toMatchObject({ stopReason, usage: { toolCalls: 0 } })
    expect(ran).toBe(0)
    const cut = 'Error: the call was not run: the reply was cut'
    expect(transcript(agent.session)).toEqual(['user: Go.', 'assistant: Both: call(look) call(look)', `tool: ${cut} ${cut}`])
    expectBalanced(agent.session)
  })
})

describe('the output', () => {
  it('is the last text of the turn, not what was written on the way', async () => {
    const { ctx } = await start([{ text: 'Let me look.', calls: [{ name: 'look' }] }, 'Found it.'])
    expect((await ctx.agents.create().run('Go.')).output).toEqual([{ type: 'text', text: 'Found it.' }])
  })

  it('never is a text of an earlier turn', async () => {
    const { ctx } = await start(['First.', { error: new Error('gone') }])
    const agent = ctx.agents.create()
    await agent.run('One.')
    expect((await agent.run('Two.')).output).toEqual([])
  })

  it('is the last text that says something, where a later one is blank', async () => {
    const { ctx } = await start([{ text: 'Something.', calls: [{ name: 'look' }] }, { text: ' ', finish: 'length' }])
    expect(await ctx.agents.create().run('Go.')).toMatchObject({ stopReason: 'max-tokens', output: [{ text: 'Something.' }] })
  })

  it('is frozen', async () => {
    const { ctx } = await start(['Yes.'])
    const { output } = await ctx.agents.create().run('Go.')
    expect([Object.isFrozen(output), Object.isFrozen(output[0])]).toEqual([true, true])
  })
})

it('a diagnostic is one scrubbed line', async () => {
  const { ctx } = await start([{ error: new Error('bad key\n  sk-proj-abcdef123456') }])
  expect((await ctx.agents.create().run('Go.')).diagnostic).toBe('bad key [redacted]')
})

it('the model is the one that the endpoint named last, else the one that was asked', async () => {
  const { ctx } = await start([{ parts: [{ type: 'response-metadata', modelId: 'fake-2026' }, { type: 'text-delta', id: 't', delta: 'Hi.' }, finish()] }, 'Hi.'])
  const agent = ctx.agents.create()
  expect((await agent.run('Go.')).model).toBe('fake-2026')
  expect((await agent.run('Go.')).model).toBe('fake')
})

describe('usage', () => {
  it('is the sum of what the requests of the turn reported', async () => {
    const { ctx } = await start([{ calls: [{ name: 'look' }, { name: 'look' }], usage: { input: 10, output: 5 } }, { text: 'ok', usage: { input: 20, output: 1 } }, { text: 'ok', usage: { input: 3 } }])
    const agent = ctx.agents.create()
    expect((await agent.run('Go.')).usage).toEqual({ steps: 2, toolCalls: 2, inputTokens: 30, outputTokens: 6, durationMs: expect.any(Number) })
    expect((await agent.run('Go.')).usage).toEqual({ steps: 1, toolCalls: 0, inputTokens: 3, unreportedSteps: 1, durationMs: expect.any(Number) })
  })

  it('leaves a figure absent that nobody reported, says of how many requests, and counts a reported zero', async () => {
    const { ctx } = await start(['silent', { text: 'zero', usage: { input: 0, output: 0 } }])
    const agent = ctx.agents.create()
    expect((await agent.run('Go.')).usage).toEqual({ steps: 1, toolCalls: 0, unreportedSteps: 1, durationMs: expect.any(Number) })
    expect((await agent.run('Go.')).usage).toMatchObject({ inputTokens: 0, outputTokens: 0 })
  })

  it('adds up cached and reasoning tokens', async () => {
    const usage = { inputTokens: { total: 9, noCache: 2, cacheRead: 7, cacheWrite: undefined }, outputTokens: { total: 6, text: 2, reasoning: 4 } }
    const part: ModelStreamPart = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage }
    const { ctx } = await start([{ parts: [part] }, { parts: [{ type: 'text-delta', id: 't', delta: 'ok' }, part] }])
    expect((await ctx.agents.create().run('Go.')).usage).toMatchObject({ inputTokens: 18, cachedInputTokens: 14, outputTokens: 12, reasoningTokens: 8 })
  })

  it('counts requests that failed', async () => {
    const { ctx } = await start([{ error: new Error('no') }])
    expect(await ctx.agents.create().run('Go.')).toMatchObject({ steps: 1, usage: { steps: 1 } })
  })
})
