import { describe, expect, it } from 'vitest'
import { expectExtending, start, tool, transcript } from './support.ts'

describe('the system text', () => {
  it('is the persona and the working directory, and nothing that varies', async () => {
    const { ctx, model } = await start(() => 'ok', { persona: 'You are a careful engineer.' })
    for (const options of [{}, { persona: 'You are terse.' }, { cwd: '/srv/app' }]) await ctx.agents.create(options).run('Go.')
    expect(model.requests.map(({ prompt }) => prompt[0])).toEqual([
      { role: 'system', content: `You are a careful engineer.\n\nWorking directory: ${process.cwd()}` },
      { role: 'system', content: `You are terse.\n\nWorking directory: ${process.cwd()}` },
      { role: 'system', content: 'You are a careful engineer.\n\nWorking directory: /srv/app' },
    ])
  })

  it('is two sentences where the app has no persona', async () => {
    const { ctx } = await start()
    expect(ctx.agents.create({ cwd: '/srv' }).system.content).toBe('You are a capable agent that works with the tools it is given. Do the whole task, then end with a complete answer in plain text.\n\nWorking directory: /srv')
  })

  it('is one message that agents share, frozen', async () => {
    const { ctx } = await start()
    const [one, two, other] = [ctx.agents.create(), ctx.agents.create(), ctx.agents.create({ persona: 'Another.' })]
    expect(one.system).toBe(two.system)
    expect(one.system).not.toBe(other.system)
    expect(Object.isFrozen(one.system)).toBe(true)
  })

  it('is right for more personas than are kept for sharing', async () => {
    const { ctx } = await start()
    for (let i = 0; i < 200; i++) expect(ctx.agents.create({ persona: `Persona ${i}.`, cwd: '/' }).system.content).toBe(`Persona ${i}.\n\nWorking directory: /`)
  })
})

describe('a request', () => {
  it('says who asks, and for the how-manieth time in this turn', async () => {
    const { ctx, model } = await start([{ calls: [{ name: 'look' }] }, 'ok', 'ok'])
    const agent = ctx.agents.create({ label: 'scout' })
    await agent.run('Go.')
    await agent.run('Again.')
    await ctx.agents.create().run('Go.').catch(() => {})
    expect(model.requests.map(({ providerOptions }) => providerOptions)).toEqual([
      { offshoot: { label: 'scout', step: 1 } }, { offshoot: { label: 'scout', step: 2 } }, { offshoot: { label: 'scout', step: 1 } },
      { offshoot: { label: 'main', step: 1 } }, { offshoot: { label: 'main', step: 2 } },
    ])
  })

  it('has no tools where there are none, and the agent\'s tools by name where there are', async () => {
    const { ctx, model } = await start(() => 'ok')
    const agent = ctx.agents.create()
    await agent.run('Go.')
    for (const name of ['b', 'c', 'a']) ctx.tools.register(tool(name))
    await agent.run('Again.')
    expect(model.requests[0]).not.toHaveProperty('tools')
    expect(model.requests[1]!.tools?.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  it('carries the output limit of an agent that has one', async () => {
    const { ctx, model } = await start(() => 'ok')
    await ctx.agents.create({ maxOutputTokens: 7 }).run('Go.')
    await ctx.agents.create().run('Go.')
    expect(model.requests[0]!.maxOutputTokens).toBe(7)
    expect(model.requests[1]).not.toHaveProperty('maxOutputTokens')
  })

  it('carries the turn\'s signal, which is not the caller\'s', async () => {
    const { ctx, model } = await start(() => 'ok')
    const { signal } = new AbortController()
    await ctx.agents.create().run('Go.', { signal })
    expect(model.requests[0]!.abortSignal).toBeInstanceOf(AbortSignal)
    expect(model.requests[0]!.abortSignal).not.toBe(signal)
  })

  it('begins with the whole of the one before it, through tools, malformed calls, the nudge and later turns', async () => {
    const { ctx, model } = await start([
      { reasoning: 'Hm.', text: 'Look:', calls: [{ name: 'look', args: '{ }' }, { name: 'look', args: 'not json' }] }, { reasoning: 'Silent.' }, 'One.',
      { text: 'Half', breaks: new Error('cut') }, { text: 'Long', finish: 'length', calls: [{ name: 'look' }] }, 'Done.',
    ])
    ctx.tools.register(tool('look'))
    const agent = ctx.agents.create()
    for (const prompt of ['First.', 'Second.', 'Third.', 'Fourth.']) await agent.run(prompt)
    expect(model.requests).toHaveLength(6)
    expectExtending(model.requests)
    expect(transcript(agent.session).at(-1)).toBe('assistant: Done.')
  })

  it('continues a session that was given to the agent', async () => {
    const { ctx, model } = await start(() => 'ok')
    const first = ctx.agents.create()
    await first.run('First.')
    const second = ctx.agents.create({ session: ctx.sessions.fork(first.session, { depth: 0, cwd: '/' }) })
    await second.run('Second.')
    expectExtending(model.requests)
    expect(transcript(first.session)).toEqual(['user: First.', 'assistant: ok'])
    expect(transcript(second.session)).toEqual(['user: First.', 'assistant: ok', 'user: Second.', 'assistant: ok'])
  })
})

describe('the prompt', () => {
  it('is the user message, unchanged', async () => {
    const { ctx, model } = await start(() => 'ok')
    const prompt = '  Keep this  spacing,\n“these” quotes and \u{1F54A}. '
    await ctx.agents.create().run(prompt)
    expect(model.requests[0]!.prompt[1]).toEqual({ role: 'user', content: [{ type: 'text', text: prompt }] })
  })

  it('may hold files; an address is a URL for the model, and text in the log', async () => {
    const { ctx, model } = await start(() => 'ok')
    const agent = ctx.agents.create()
    await agent.run([{ type: 'text', text: 'Look:' }, { type: 'file', data: 'https://example.org/a.png', mediaType: 'image/png' }])
    expect(model.requests[0]!.prompt[1]!.content[1]).toEqual({ type: 'file', data: new URL('https://example.org/a.png'), mediaType: 'image/png' })
    expect(agent.session.entries()[0]!.message.content[1]).toMatchObject({ data: 'https://example.org/a.png' })
  })
})
