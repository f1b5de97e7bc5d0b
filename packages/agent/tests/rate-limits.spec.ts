import type { ModelStreamPart } from '@offshoot/model'
import { fakeModel, type FakeReply } from '@offshoot/model/testing'
import { textOf } from '@offshoot/session'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Agent } from '../src/index.ts'
import { expectBalanced, finish, gate, never, record, start, tool, transcript } from './support.ts'

/** The failure of an endpoint that answers `status`. */
function failure(status: number, more: object = {}): FakeReply {
  return { error: Object.assign(new Error('no'), { url: 'http://a/v1', statusCode: status, ...more }) }
}

const limited = (seconds: number): FakeReply => failure(429, { responseHeaders: { 'retry-after': String(seconds) } })
const quota = failure(429, { data: { error: { message: 'no', code: 'insufficient_quota' } } })
const call: FakeReply = { calls: [{ name: 'look' }] }
const cut = { stopReason: 'timeout', diagnostic: 'time is up' } as const

/** Settles when a rate limit holds a request of `agent`. */
function held(agent: Agent): Promise<void> {
  const { opened, open } = gate()
  agent.on(({ type }) => { if (type === 'rate-limit') open() })
  return opened
}

beforeEach(() => {
  vi.useFakeTimers({ now: 0, toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe('a request that a rate limit refused', () => {
  it('is made again in place, when the limit is over: the same step, the same request, nothing of it in the log', async () => {
    const { ctx, model } = await start([call, limited(30), limited(5), { text: 'Seen.', usage: { input: 7, output: 2 } }])
    ctx.tools.register(tool('look'))
    const agent = ctx.agents.create()
    const waiting = held(agent)
    const turn = agent.run('Go.')
    await waiting
    await vi.advanceTimersByTimeAsync(34_999)
    expect(model.requests).toHaveLength(3)
    await vi.advanceTimersByTimeAsync(1)
    expect(await turn).toMatchObject({ stopReason: 'completed', steps: 2, output: [{ text: 'Seen.' }], usage: { steps: 2, inputTokens: 7, outputTokens: 2 } })
    const [, refused, ...again] = model.requests
    for (const request of again) expect(JSON.stringify(request)).toBe(JSON.stringify(refused))
    expect(transcript(agent.session)).toEqual(['user: Go.', 'assistant: call(look)', 'tool: look done', 'assistant: Seen.'])
  })

  it('shows: the event says until when it waits, and the progress that it does', async () => {
    const answer = gate()
    const { ctx } = await start([limited(30), { text: 'Yes.', hold: answer.opened }])
    const agent = ctx.agents.create()
    const events = record(agent)
    const waiting = held(agent)
    const turn = agent.run('Go.')
    await waiting
    expect(agent.progress).toMatchObject({ step: 1, waitsFor: 'rate-limit' })
    await vi.advanceTimersByTimeAsync(30_000)
    expect(agent.progress).toMatchObject({ step: 1, waitsFor: 'model', heardAt: 30_000, hasAnswered: false })
    answer.open()
    await turn
    expect(events.map(({ type }) => type)).toEqual(['turn-start', 'step-start', 'rate-limit', 'text-delta', 'turn-end'])
    expect(events[2]).toEqual({ type: 'rate-limit', retryAt: 30_000 })
  })

  it.each<[string, ModelStreamPart[]]>([
    ['nothing', []],
    ['what is no part of the reply', [{ type: 'stream-start', warnings: [] }, { type: 'response-metadata', modelId: 'm' }]],
    ['the beginning of a block', [{ type: 'reasoning-start', id: 'r' }, { type: 'reasoning-delta', id: 'r', delta: '' }]],
  ])('mid-stream is made again after %s, and what the refused one cost is not counted', async (_what, parts) => {
    const usage = { inputTokens: { total: 9, noCache: 9, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 0, text: 0, reasoning: 0 } }
    const { ctx } = await start([{ parts: [...parts, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, { ...finish(), usage } as ModelStreamPart] }, { text: 'Yes.', usage: { input: 1, output: 1 } }])
    const turn = ctx.agents.create().run('Go.')
    await vi.advanceTimersByTimeAsync(500)
    expect(await turn).toMatchObject({ stopReason: 'completed', usage: { steps: 1, inputTokens: 1, outputTokens: 1 } })
  })

  it('mid-stream is not made again after a word of the reply, which is kept', async () => {
    const { ctx, model } = await start([{ parts: [{ type: 'text-delta', id: 't', delta: 'Half' }, { type: 'error', error: { code: 'rate_limit_exceeded', message: 'slow down' } }] }])
    expect(await ctx.agents.create().run('Go.')).toMatchObject({ stopReason: 'error', diagnostic: 'slow down', output: [{ text: 'Half' }] })
    expect(model.requests).toHaveLength(1)
  })

  it('is an error in the end, whose diagnostic says how often and how long it was tried', async () => {
    const { ctx, model } = await start(() => limited(10))
    const turn = ctx.agents.create().run('Go.')
    await vi.advanceTimersByTimeAsync(70_000)
    expect(await turn).toMatchObject({ stopReason: 'error', steps: 1, diagnostic: 'the model endpoint http://a/v1 answered 429: no; tried 8 times in 70 s (rateLimit.maxAttempts)' })
    expect(model.requests).toHaveLength(8)
  })

  it('is an error at once where the limit lasts too long', async () => {
    const { ctx, model } = await start([limited(3600)])
    expect(await ctx.agents.create().run('Go.')).toMatchObject({
      stopReason: 'error', diagnostic: 'the model endpoint http://a/v1 answered 429: no; tried once in 0 s (the limit lasts another 3600 s, and a request waits 600 s at most (rateLimit.maxWaitMs))',
    })
    expect(model.requests).toHaveLength(1)
  })
})

describe('a rate limit', () => {
  it('holds every agent on that model, and none on another', async () => {
    const { ctx, model } = await start((_request, index) => index === 0 ? limited(30) : 'Yes.')
    ctx.models.register('other', fakeModel(() => 'Yes.'))
    const first = ctx.agents.create()
    const waiting = held(first)
    const turn = first.run('Go.')
    await waiting
    const sibling = ctx.agents.create()
    const siblingWaits = held(sibling)
    const siblingTurn = sibling.run('Go.')
    expect((await ctx.agents.create({ model: 'other' }).run('Go.')).stopReason).toBe('completed')
    await siblingWaits
    await vi.advanceTimersByTimeAsync(29_999)
    expect(model.requests).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    for (const result of [await turn, await siblingTurn]) expect(result.stopReason).toBe('completed')
  })

  it('is over for the others at the first word of the reply that the one that goes first gets', async () => {
    const rest = gate()
    const { ctx } = await start((_request, index) => [limited(30), { parts: [{ type: 'text-delta', id: 't', delta: 'Long' }, finish()], holdAfter: rest.opened }][index] as FakeReply | undefined ?? 'Yes.')
    const [first, second] = [ctx.agents.create(), ctx.agents.create()]
    const waiting = held(first)
    const long = first.run('Go.')
    await waiting
    const short = second.run('Go.')
    await vi.advanceTimersByTimeAsync(30_000)
    expect((await short).stopReason).toBe('completed')
    expect(first.state).toBe('running')
    rest.open()
    expect((await long).stopReason).toBe('completed')
  })

  it('is no reason to let others wait when the one that goes first is aborted', async () => {
    const { ctx } = await start((_request, index) => [limited(30), { hold: never }][index] ?? 'Yes.')
    const [first, second] = [ctx.agents.create(), ctx.agents.create()]
    const waiting = held(first)
    const aborted = first.run('Go.')
    await waiting
    const turn = second.run('Go.')
    await vi.advanceTimersByTimeAsync(30_000)
    first.abort(new Error('enough'))
    expect((await aborted).stopReason).toBe('aborted')
    expect((await turn).stopReason).toBe('completed')
  })
})

describe('while a rate limit holds a request', () => {
  it.each([
    ['an abort', (agent: Agent) => { agent.abort(new Error('enough')) }],
    ['the disposal of the agent', (agent: Agent) => { void agent.dispose() }],
  ])('%s ends the turn at once', async (_what, end) => {
    const { ctx, model } = await start([limited(30)])
    const agent = ctx.agents.create()
    const waiting = held(agent)
    const turn = agent.run('Go.')
    await waiting
    end(agent)
    expect(await turn).toMatchObject({ stopReason: 'aborted', steps: 1 })
    expect(vi.getTimerCount()).toBe(0)
    expect(model.requests).toHaveLength(1)
  })

  it('a cut ends the turn at once, with what there is: nobody waits for the wrap-up', async () => {
    const { ctx, model } = await start([{ text: 'Looking.', ...call }, limited(30)])
    ctx.tools.register(tool('look'))
    const agent = ctx.agents.create()
    const waiting = held(agent)
    const turn = agent.run('Go.')
    await waiting
    agent.wrapUp(cut)
    expect(await turn).toMatchObject({ ...cut, output: [{ text: 'Looking.' }] })
    expect(model.requests).toHaveLength(2)
    expectBalanced(agent.session)
  })
})

it('the wrap-up of a turn that has used its steps waits for a rate limit', async () => {
  const { ctx } = await start([call, limited(30), 'So far: half.'])
  ctx.tools.register(tool('look'))
  const agent = ctx.agents.create({ maxSteps: 1 })
  const waiting = held(agent)
  const turn = agent.run('Go.')
  await waiting
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await turn).toMatchObject({ stopReason: 'max-steps', steps: 2, output: [{ text: 'So far: half.' }] })
})

describe('a failure that waiting does not help', () => {
  it.each<[string, FakeReply, string, RegExp]>([
    ['a quota that is used up', quota, 'quota', /^the model endpoint http:\/\/a\/v1 answered 429: no$/],
    ['a conversation that has become too long', failure(400, { data: { error: { message: 'no', code: 'context_length_exceeded' } } }), 'context-overflow', /^the model endpoint http:\/\/a\/v1 answered 400: no$/],
    ['the same, mid-reply', { parts: [{ ...finish(), finishReason: { unified: 'other', raw: 'model_context_window_exceeded' } } as ModelStreamPart] }, 'context-overflow', /unknown reason \(model_context_window_exceeded\)$/],
  ])('is not tried again: %s', async (_what, reply, stopReason, diagnostic) => {
    const { ctx, model } = await start([{ text: 'Looking.', ...call }, reply])
    ctx.tools.register(tool('look'))
    const agent = ctx.agents.create()
    const result = await agent.run('Go.')
    expect(result).toMatchObject({ stopReason, steps: 2, diagnostic: expect.stringMatching(diagnostic) })
    expect(textOf(result.output)).toBe('Looking.')
    expect(model.requests).toHaveLength(2)
    expectBalanced(agent.session)
  })

  it('holds nobody else: a quota that is used up closes no gate', async () => {
    const { ctx } = await start((_request, index) => index === 0 ? quota : 'Yes.')
    expect((await ctx.agents.create().run('Go.')).stopReason).toBe('quota')
    expect((await ctx.agents.create().run('Go.')).stopReason).toBe('completed')
  })
})
