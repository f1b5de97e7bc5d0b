import { textOf } from '@offshoot/session'
import { describe, expect, it, vi } from 'vitest'
import { expectBalanced, finish, start, tool, transcript } from './support.ts'

const call = { calls: [{ name: 'look' }] }
const nudge = 'user: You stopped without writing anything. Write your complete final answer now, as plain text.'
const wrapUp = 'user: You have to stop here, and can use no more tools. Write down now, as plain text, what you have done and found so far, and what is still missing.'

describe('the step limit', () => {
  it('counts model requests, and lets a turn that still wants tools write down what it has, without them', async () => {
    const { ctx, model } = await start((_request, index) => index < 3 ? call : 'Half of it.')
    ctx.tools.register(tool('look'))
    const agent = ctx.agents.create({ maxSteps: 3 })
    const result = await agent.run('Go.')
    expect(result).toMatchObject({ stopReason: 'max-steps', steps: 4, output: [{ text: 'Half of it.' }], diagnostic: 'stopped after 3 model requests (maxSteps)' })
    expect(transcript(agent.session).slice(-2)).toEqual([wrapUp, 'assistant: Half of it.'])
    expect(model.requests).toHaveLength(4)
    // The tools stay where the model's cache has them.
    expect(model.requests.map(({ toolChoice, tools }) => [toolChoice?.type, tools?.length])).toEqual([[undefined, 1], [undefined, 1], [undefined, 1], ['none', 1]])
    expectBalanced(agent.session)
  })

  it('answers calls that come all the same, and runs none of them', async () => {
    const { ctx } = await start(() => call)
    const look = vi.fn(() => 'done')
    ctx.tools.register(tool('look', { execute: look }))
    const agent = ctx.agents.create({ maxSteps: 1 })
    expect(await agent.run('Go.')).toMatchObject({ stopReason: 'max-steps', steps: 2, output: [] })
    expect(look).toHaveBeenCalledTimes(1)
    expect(transcript(agent.session).at(-1)).toBe('tool: Error: the call was not run: the turn is over')
    expectBalanced(agent.session)
  })

  it('lets the last request that it allows answer', async () => {
    const { ctx } = await start([call, 'done'])
    const result = await ctx.agents.create({ maxSteps: 2 }).run('Go.')
    expect(result).toMatchObject({ stopReason: 'completed', steps: 2 })
  })

  it('is 100 by default', async () => {
    const { ctx, model } = await start((_request, index) => ({ calls: [{ name: 'look', args: { index } }] }))
    expect(await ctx.agents.create().run('Go.')).toMatchObject({ stopReason: 'max-steps', steps: 101 })
    expect(model.requests).toHaveLength(101)
  })

  it('is the app\'s where its config says so, and the agent\'s own before that', async () => {
    const { ctx } = await start(() => call, { maxSteps: 2 })
    expect((await ctx.agents.create().run('Go.')).steps).toBe(3)
    expect((await ctx.agents.create({ maxSteps: 1 }).run('Go.')).steps).toBe(2)
  })

  it('is counted anew in each turn', async () => {
    const { ctx } = await start(() => call)
    const agent = ctx.agents.create({ maxSteps: 2 })
    for (let turn = 0; turn < 3; turn++) expect(await agent.run('Go.')).toMatchObject({ stopReason: 'max-steps', steps: 3 })
  })
})

describe('a turn that repeats itself', () => {
  const look = (n: number) => ({ calls: [{ name: 'look', args: { n } }] })

  it('ends as loop when the same calls brought the same results five times in a row, with what it can write down', async () => {
    const { ctx, model } = await start((_request, index) => index < 5 ? call : 'I am stuck.')
    ctx.tools.register(tool('look'))
    const agent = ctx.agents.create()
    expect(await agent.run('Go.')).toMatchObject({
      stopReason: 'loop', steps: 6, output: [{ text: 'I am stuck.' }],
      diagnostic: 'the same calls (look) brought the same results 5 times in a row (maxRepeats)',
    })
    expect(model.requests).toHaveLength(6)
    expectBalanced(agent.session)
  })

  it.each([
    ['other arguments', (_request: unknown, index: number) => index < 12 ? look(index % 2) : 'Done.', () => 'same'],
    ['other results', (_request: unknown, index: number) => index < 12 ? look(1) : 'Done.', (() => { let n = 0; return () => `${n++}` })()],
  ])('goes on with %s in between', async (_what, reply, execute) => {
    const { ctx } = await start(reply)
    ctx.tools.register(tool('look', { execute }))
    expect(await ctx.agents.create().run('Go.')).toMatchObject({ stopReason: 'completed', steps: 13 })
  })

  it('has the app\'s bound where its config says so', async () => {
    const { ctx, model } = await start(() => call, { maxRepeats: 2 })
    expect((await ctx.agents.create().run('Go.')).stopReason).toBe('loop')
    expect(model.requests).toHaveLength(3)
  })
})

describe('a turn that is cut short', () => {
  const cut = { stopReason: 'timeout', diagnostic: 'time is up' } as const

  it('mid-stream keeps the text, writes down what it has, and ends with the reason of the cut', async () => {
    const { ctx, model } = await start([{ parts: [{ type: 'text-delta', id: '0', delta: 'I was say' }, finish('stop')], holdAfter: new Promise(() => {}) }, 'So far: half.'])
    const agent = ctx.agents.create()
    agent.on(event => { if (event.type === 'text-delta' && event.text === 'I was say') queueMicrotask(() => { agent.wrapUp(cut) }) })
    expect(await agent.run('Go.')).toMatchObject({ ...cut, steps: 2, output: [{ text: 'So far: half.' }] })
    expect(model.requests[1]!.abortSignal).not.toBe(model.requests[0]!.abortSignal)
    expectBalanced(agent.session)
  })

  it('mid-tool aborts the tool, and answers its call', async () => {
    const { ctx } = await start([call, 'So far: half.'])
    const agent = ctx.agents.create()
    ctx.tools.register(tool('look', { execute: (_args, { signal }) => new Promise((_resolve, reject) => {
      signal!.addEventListener('abort', () => { reject(signal!.reason as Error) })
      queueMicrotask(() => { agent.wrapUp(cut) })
    }) }))
    expect(await agent.run('Go.')).toMatchObject({ ...cut, output: [{ text: 'So far: half.' }] })
    expect(transcript(agent.session).slice(-3)).toEqual(['tool: Error: time is up', wrapUp, 'assistant: So far: half.'])
  })

  it('and aborted while it wraps up is aborted', async () => {
    const { ctx } = await start([call, { hold: new Promise(() => {}) }])
    const agent = ctx.agents.create()
    ctx.tools.register(tool('look', { execute: () => { agent.wrapUp(cut); return 'done' } }))
    agent.on(event => { if (event.type === 'step-start' && event.step === 2) queueMicrotask(() => { agent.abort(new Error('enough')) }) })
    expect(await agent.run('Go.')).toMatchObject({ stopReason: 'aborted', diagnostic: 'enough' })
    expectBalanced(agent.session)
  })

  it('between turns does nothing', async () => {
    const { ctx } = await start(['Done.'])
    const agent = ctx.agents.create()
    agent.wrapUp(cut)
    expect((await agent.run('Go.')).stopReason).toBe('completed')
  })
})

describe('a model that stops without writing anything is asked once for its answer', () => {
  it.each([
    ['nothing at all', {}, ['user: Go.']],
    ['blank text', { text: ' \n' }, ['user: Go.', 'assistant:  \n']],
    ['reasoning only', { reasoning: 'Hm.' }, ['user: Go.', 'assistant: Hm.']],
  ])('after %s', async (_what, silence, before) => {
    const { ctx, model } = await start([silence, 'Sorry: 42.'])
    const agent = ctx.agents.create()
    expect(await agent.run('Go.')).toMatchObject({ stopReason: 'completed', output: [{ type: 'text', text: 'Sorry: 42.' }], steps: 2 })
    expect(transcript(agent.session)).toEqual([...before, nudge, 'assistant: Sorry: 42.'])
    expect(model.requests).toHaveLength(2)
  })

  it('after a tool result', async () => {
    const { ctx } = await start([{ text: 'Looking.', ...call }, {}, 'It is blue.'])
    ctx.tools.register(tool('look'))
    const agent = ctx.agents.create()
    expect(textOf((await agent.run('Go.')).output)).toBe('It is blue.')
    expect(transcript(agent.session)).toEqual(['user: Go.', 'assistant: Looking. call(look)', 'tool: look done', nudge, 'assistant: It is blue.'])
  })

  it('and ends with empty-output when it stays silent, keeping what it wrote before as partial output', async () => {
    const { ctx, model } = await start([{ text: 'Looking.', ...call }])
    ctx.tools.register(tool('look'))
    const result = await ctx.agents.create().run('Go.')
    expect(result).toMatchObject({ stopReason: 'empty-output', output: [{ text: 'Looking.' }], steps: 3, diagnostic: 'the model ended without writing an answer' })
    expect(model.requests).toHaveLength(3)
  })

  it('and not a second time, when it went back to work and fell silent again', async () => {
    const { ctx, model } = await start([{}, call, {}])
    ctx.tools.register(tool('look'))
    const agent = ctx.agents.create()
    expect((await agent.run('Go.')).stopReason).toBe('empty-output')
    expect(model.requests).toHaveLength(3)
    expect(transcript(agent.session).filter(line => line === nudge)).toHaveLength(1)
  })

  it('and not where the step limit leaves no room for an answer', async () => {
    const { ctx, model } = await start([])
    const agent = ctx.agents.create({ maxSteps: 1 })
    expect(await agent.run('Go.')).toMatchObject({ stopReason: 'empty-output', output: [], steps: 1 })
    expect(model.requests).toHaveLength(1)
    expect(transcript(agent.session)).toEqual(['user: Go.'])
  })

  it('and again in the next turn', async () => {
    const { ctx } = await start([{}, 'one', {}, 'two'])
    const agent = ctx.agents.create()
    expect(textOf((await agent.run('Go.')).output)).toBe('one')
    expect(textOf((await agent.run('Go on.')).output)).toBe('two')
    expect(transcript(agent.session).filter(line => line === nudge)).toHaveLength(2)
  })
})
