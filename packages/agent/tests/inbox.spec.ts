import { describe, expect, it, vi } from 'vitest'
import type { Agent } from '../src/index.ts'
import { expectExtending, fakeTimers, gate, never, Note, record, rest, start, tool, transcript } from './support.ts'

/** An agent that runs a tool while `meanwhile` happens, and then answers. */
async function whileATool(meanwhile: (agent: Agent) => void, answers: readonly string[] = ['done', 'done again']): Promise<{ agent: Agent, said: string[] }> {
  const { ctx, model } = await start([{ calls: [{ name: 'look' }] }, ...answers])
  const agent = ctx.agents.create()
  ctx.tools.register(tool('look', { execute: () => { meanwhile(agent); return 'looked' } }))
  await agent.run('Go.')
  await rest()
  expectExtending(model.requests)
  return { agent, said: transcript(agent.session) }
}

describe('inject(), while a turn runs,', () => {
  it('is told at the next step, as a message of its own after the results', async () => {
    const note = new Note('It rains.')
    const { said } = await whileATool(agent => { agent.inject(note) })
    expect(said).toEqual(['user: Go.', 'assistant: call(look)', 'tool: looked', 'user: It rains.', 'assistant: done'])
    expect(note.told).toBe(1)
  })

  it('tells what came together in one message, in order, and the same notice once', async () => {
    const [one, two] = [new Note('One.'), new Note('Two.')]
    const { said } = await whileATool(agent => { for (const note of [one, two, one]) agent.inject(note) })
    expect(said).toContain('user: One.\nTwo.')
    expect([one.told, two.told]).toEqual([1, 1])
  })

  it('marks the message as a notice: no user wrote it', async () => {
    const { agent } = await whileATool(each => { each.inject(new Note('It rains.')) })
    expect(agent.session.entries().map(({ source }) => source)).toEqual([undefined, undefined, undefined, 'notice', undefined])
  })

  it('is asked for its text when it is told: what was taken back is not told', async () => {
    const note = new Note('It rains.')
    const { said } = await whileATool(agent => {
      agent.inject(note)
      note.takeBack()
    })
    expect(said).toEqual(['user: Go.', 'assistant: call(look)', 'tool: looked', 'assistant: done'])
    expect(note.told).toBe(0)
  })

  it('is told before the turn ends where it came while the model wrote its answer: the turn goes on, and the last answer is the result', async () => {
    const { ctx } = await start(['too early', 'with the news'])
    const agent = ctx.agents.create()
    const events = record(agent)
    agent.on(event => { if (event.type === 'text-delta' && event.text === 'too early') agent.inject(new Note('It rains.')) })
    expect(await agent.run('Go.')).toMatchObject({ stopReason: 'completed', output: [{ text: 'with the news' }], steps: 2 })
    expect(transcript(agent.session)).toEqual(['user: Go.', 'assistant: too early', 'user: It rains.', 'assistant: with the news'])
    expect(events.filter(({ type }) => type === 'turn-start')).toHaveLength(1)
  })

  it('is told in a turn of its own where no request is left for it in this one', async () => {
    const { ctx } = await start(['the last request', 'with the news'])
    const agent = ctx.agents.create({ maxSteps: 1 })
    const events = record(agent)
    const off = agent.on(event => { if (event.type === 'text-delta') { off(); agent.inject(new Note('It rains.')) } })
    expect(await agent.run('Go.')).toMatchObject({ stopReason: 'completed', output: [{ text: 'the last request' }] })
    await rest()
    expect(transcript(agent.session)).toEqual(['user: Go.', 'assistant: the last request', 'user: It rains.', 'assistant: with the news'])
    expect(events.flatMap(event => event.type === 'turn-start' ? [event.trigger] : [])).toEqual(['prompt', 'notice'])
  })

  it('is told after a turn that failed', async () => {
    const { ctx } = await start([{ error: new Error('broken') }, 'better now'])
    const agent = ctx.agents.create()
    const off = agent.on(event => { if (event.type === 'step-start') { off(); agent.inject(new Note('It rains.')) } })
    expect((await agent.run('Go.')).stopReason).toBe('error')
    await rest()
    expect(transcript(agent.session)).toEqual(['user: Go.', 'user: It rains.', 'assistant: better now'])
  })
})

describe('inject(), while nothing runs,', () => {
  it('wakes the agent: a turn begins with the notice, by itself', async () => {
    const { ctx } = await start(['I see.'])
    const agent = ctx.agents.create()
    const events = record(agent)
    agent.inject(new Note('It rains.'))
    expect([agent.state, agent.isBusy]).toEqual(['idle', true])
    await rest()
    expect(transcript(agent.session)).toEqual(['user: It rains.', 'assistant: I see.'])
    expect(events[0]).toEqual({ type: 'turn-start', trigger: 'notice' })
    expect([agent.state, agent.isBusy]).toEqual(['idle', false])
  })

  it('wakes it once for all that came in one tick', async () => {
    const { ctx, model } = await start(['I see.'])
    const agent = ctx.agents.create()
    agent.inject(new Note('One.'))
    await Promise.resolve()
    agent.inject(new Note('Two.'))
    await rest()
    expect(transcript(agent.session)).toEqual(['user: One.\nTwo.', 'assistant: I see.'])
    expect(model.requests).toHaveLength(1)
  })

  it('wakes nobody for what was taken back before the tick ended', async () => {
    const { ctx, model } = await start()
    const agent = ctx.agents.create()
    const note = new Note('It rains.')
    agent.inject(note)
    note.takeBack()
    await rest()
    expect(model.requests).toEqual([])
    expect(agent.isBusy).toBe(false)
  })

  it('is told ahead of an input that comes first', async () => {
    const { ctx, model } = await start(['I see.'])
    const agent = ctx.agents.create()
    agent.inject(new Note('It rains.'))
    await agent.run('Go.')
    await rest()
    expect(transcript(agent.session)).toEqual(['user: It rains.', 'user: Go.', 'assistant: I see.'])
    expect(model.requests).toHaveLength(1)
  })

  it('is refused by an agent that is disposed', async () => {
    const { ctx } = await start()
    const agent = ctx.agents.create()
    await agent.dispose()
    expect(() => { agent.inject(new Note('It rains.')) }).toThrow(expect.objectContaining({ code: 'AGENT_DISPOSED' }))
  })

  it('dies with an agent that is disposed before the tick ends', async () => {
    const { ctx, model } = await start()
    const agent = ctx.agents.create()
    agent.inject(new Note('It rains.'))
    await agent.dispose()
    await rest()
    expect(model.requests).toEqual([])
  })
})

describe('wakes in a row', () => {
  async function wakeTimes(maxWakes: number | undefined, times: number): Promise<{ agent: Agent, requests: number }> {
    const { ctx, model } = await start(() => 'I see.', maxWakes === undefined ? {} : { maxWakes })
    const agent = ctx.agents.create()
    for (let n = 1; n <= times; n++) {
      agent.inject(new Note(`News ${n}.`))
      await rest()
    }
    return { agent, requests: model.requests.length }
  }

  it('are at most 16; then notices wait for the next input, which tells them all and lets it be woken again', async () => {
    const { agent, requests } = await wakeTimes(undefined, 18)
    expect(requests).toBe(16)
    await agent.run('And now?')
    expect(transcript(agent.session).slice(-3)).toEqual(['user: News 17.\nNews 18.', 'user: And now?', 'assistant: I see.'])
    agent.inject(new Note('News 19.'))
    await rest()
    expect(transcript(agent.session).at(-2)).toBe('user: News 19.')
  })

  it('are as many as maxWakes says; with 0, notices always wait', async () => {
    expect((await wakeTimes(3, 5)).requests).toBe(3)
    const { agent, requests } = await wakeTimes(0, 2)
    expect(requests).toBe(0)
    await agent.run('Go.')
    expect(transcript(agent.session)).toEqual(['user: News 1.\nNews 2.', 'user: Go.', 'assistant: I see.'])
  })
})

describe('a notice that cannot be told', () => {
  it('because the log does not take it waits, and is told once when the log does', async () => {
    fakeTimers()
    const { ctx, logged, model } = await start(() => 'I see.')
    const agent = ctx.agents.create()
    const append = vi.spyOn(agent.session, 'append').mockImplementation(() => { throw new Error('disk full') })
    const note = new Note('It rains.')
    agent.inject(note)
    for (let n = 0; n < 20; n++) {
      await rest()
      vi.advanceTimersByTime(30_000)
    }
    expect([note.told, agent.isBusy, model.requests.length]).toEqual([0, true, 0])
    expect(logged.length).toBeGreaterThan(16)
    append.mockRestore()
    vi.advanceTimersByTime(30_000)
    await rest()
    expect(transcript(agent.session)).toEqual(['user: It rains.', 'assistant: I see.'])
    expect(note.told).toBe(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('because its model is gone waits until there is one', async () => {
    fakeTimers()
    const { ctx, model } = await start(['I see.'])
    const withdraw = ctx.models.register('other', model)
    const agent = ctx.agents.create({ model: 'other' })
    withdraw()
    agent.inject(new Note('It rains.'))
    await rest()
    expect(transcript(agent.session)).toEqual([])
    ctx.models.register('other', model)
    vi.advanceTimersByTime(100)
    await rest()
    expect(transcript(agent.session)).toEqual(['user: It rains.', 'assistant: I see.'])
  })

  it('is let go with its agent, with no timer left', async () => {
    fakeTimers()
    const { ctx } = await start()
    const agent = ctx.agents.create()
    vi.spyOn(agent.session, 'append').mockImplementation(() => { throw new Error('disk full') })
    agent.inject(new Note('It rains.'))
    await rest()
    expect(vi.getTimerCount()).toBe(1)
    await agent.dispose()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('because it throws keeps nobody else from being told, and is tried at the next occasion', async () => {
    const { ctx, logged } = await start(['I see.', 'I see that too.'])
    const agent = ctx.agents.create()
    const broken = new Note('At last.')
    vi.spyOn(broken, 'text').mockImplementation(() => { throw new Error('not now') })
    agent.inject(broken)
    agent.inject(new Note('It rains.'))
    await rest()
    expect(transcript(agent.session)).toEqual(['user: It rains.', 'assistant: I see.'])
    expect(logged).toContainEqual(new Error('not now'))
    vi.mocked(broken.text).mockRestore()
    await agent.run('Go.')
    expect(transcript(agent.session).slice(2)).toEqual(['user: At last.', 'user: Go.', 'assistant: I see that too.'])
  })

  it('is told once all the same where it throws at hearing so', async () => {
    const { ctx, logged } = await start(() => 'I see.')
    const agent = ctx.agents.create()
    const broken = new Note('It rains.')
    vi.spyOn(broken, 'delivered').mockImplementation(() => { throw new Error('lost the book') })
    agent.inject(broken)
    await rest()
    await agent.run('Go.')
    expect(transcript(agent.session)).toEqual(['user: It rains.', 'assistant: I see.', 'user: Go.', 'assistant: I see.'])
    expect(logged).toEqual([new Error('lost the book')])
  })
})

it('a turn of its own is a turn like any other: it keeps the agent busy, and can be aborted', async () => {
  const asked = gate()
  const { ctx } = await start(() => { asked.open(); return { hold: never } })
  const agent = ctx.agents.create()
  const events = record(agent)
  agent.inject(new Note('It rains.'))
  await asked.opened
  await expect(agent.run('Go.')).rejects.toMatchObject({ code: 'AGENT_BUSY' })
  agent.abort(new Error('enough'))
  await rest()
  expect(events.at(-1)).toMatchObject({ type: 'turn-end', result: { stopReason: 'aborted', diagnostic: 'enough' } })
  expect([agent.state, agent.isBusy]).toEqual(['idle', false])
})
