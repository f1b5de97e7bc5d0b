import { textOf } from '@offshoot/session'
import { describe, expect, it } from 'vitest'
import { expectBalanced, start, tool, transcript } from './support.ts'

const call = { calls: [{ name: 'look' }] }
const nudge = 'user: You stopped without writing anything. Write your complete final answer now, as plain text.'

describe('the step limit', () => {
  it('counts model requests, and ends a turn that still wants tools', async () => {
    const { ctx, model } = await start(() => call)
    ctx.tools.register(tool('look'))
    const agent = ctx.agents.create({ maxSteps: 3 })
    const result = await agent.run('Go.')
    expect(result).toMatchObject({ stopReason: 'max-steps', steps: 3, output: [], diagnostic: 'stopped after 3 model requests (maxSteps)' })
    expect(model.requests).toHaveLength(3)
    expectBalanced(agent.session)
  })

  it('lets the last request that it allows answer', async () => {
    const { ctx } = await start([call, 'done'])
    const result = await ctx.agents.create({ maxSteps: 2 }).run('Go.')
    expect(result).toMatchObject({ stopReason: 'completed', steps: 2 })
  })

  it('is 100 by default', async () => {
    const { ctx, model } = await start(() => call)
    expect((await ctx.agents.create().run('Go.')).steps).toBe(100)
    expect(model.requests).toHaveLength(100)
  })

  it('is the app\'s where its config says so, and the agent\'s own before that', async () => {
    const { ctx } = await start(() => call, { maxSteps: 2 })
    expect((await ctx.agents.create().run('Go.')).steps).toBe(2)
    expect((await ctx.agents.create({ maxSteps: 1 }).run('Go.')).steps).toBe(1)
  })

  it('is counted anew in each turn', async () => {
    const { ctx } = await start(() => call)
    const agent = ctx.agents.create({ maxSteps: 2 })
    for (let turn = 0; turn < 3; turn++) expect(await agent.run('Go.')).toMatchObject({ stopReason: 'max-steps', steps: 2 })
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
