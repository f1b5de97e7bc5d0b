import type { FakeReply } from '@offshoot/model/testing'
import { textOf } from '@offshoot/session'
import { describe, expect, it } from 'vitest'
import type { AgentEvent, AnswerTool } from '../src/index.ts'
import { expectBalanced, expectExtending, gate, resultsOf, start, tool, transcript } from './support.ts'

/** An answer has a number `n`. */
const answer: AnswerTool = {
  name: 'hand_over', concurrency: 'parallel',
  spec: { type: 'function', name: 'hand_over', inputSchema: { type: 'object' } },
  check: args => typeof (args as { n?: unknown }).n === 'number' ? undefined : 'n: is no number',
  whereWrong: () => 'n (type)',
  execute: () => 'Handed over.',
}

const handOver = (args: object | string = { n: 1 }): { name: string, args: object | string } => ({ name: 'hand_over', args })
const good: FakeReply = { calls: [handOver()] }
const bad: FakeReply = { calls: [handOver({ n: 'one' })] }
const reminder = 'user: You ended without handing over your answer: text is not handed over. Call hand_over now, with your complete answer.'
const misfit = 'tool: Error: invalid arguments for "hand_over": n: is no number'
const never = 'hand_over was never called'
const wrong = 'hand_over was called with what does not fit: n (type)'

describe('an agent with an answer tool', () => {
  it('completes by a call that fits: its arguments, frozen, and their JSON for output', async () => {
    const { ctx, model } = await start([{ text: 'Here it is:', calls: [handOver('{ "n": 1, "of": {"deep": []} }')] }])
    const agent = ctx.agents.create({ answer })
    const result = await agent.run('Go.')
    expect(result).toMatchObject({ stopReason: 'completed', structured: { n: 1, of: { deep: [] } }, output: [{ type: 'text', text: '{"n":1,"of":{"deep":[]}}' }], steps: 1, usage: { toolCalls: 1 } })
    expect(result).not.toHaveProperty('diagnostic')
    expect(Object.isFrozen((result.structured as { of: { deep: unknown } }).of.deep)).toBe(true)
    expect(transcript(agent.session)).toEqual(['user: Go.', 'assistant: Here it is: call(hand_over)', 'tool: Handed over.'])
    expect(model.requests).toHaveLength(1)
  })

  it('may work with its tools before', async () => {
    const { ctx } = await start([{ calls: [{ name: 'look' }] }, good])
    ctx.tools.register(tool('look'))
    expect(await ctx.agents.create({ answer }).run('Go.')).toMatchObject({ stopReason: 'completed', structured: { n: 1 }, steps: 2 })
  })

  it('may repair a call that does not fit, of which it is told where', async () => {
    const { ctx } = await start([bad, good])
    const agent = ctx.agents.create({ answer })
    expect(await agent.run('Go.')).toMatchObject({ stopReason: 'completed', structured: { n: 1 }, steps: 2 })
    expect(transcript(agent.session)).toEqual(['user: Go.', 'assistant: call(hand_over)', misfit, 'assistant: call(hand_over)', 'tool: Handed over.'])
  })

  it('is reminded once when it ends with text, or with nothing', async () => {
    for (const reply of [{ text: 'It is one.' }, {}]) {
      const { ctx } = await start([reply, good])
      const agent = ctx.agents.create({ answer })
      expect(await agent.run('Go.')).toMatchObject({ stopReason: 'completed', structured: { n: 1 } })
      expect(transcript(agent.session)).toContain(reminder)
    }
  })

  it('has the tool whatever its filter hides, in order of names, and its requests extend each other', async () => {
    const { ctx, model } = await start([{ calls: [{ name: 'look' }] }, bad, 'Text.', good])
    for (const name of ['a', 'look']) ctx.tools.register(tool(name))
    const own = tool('own')
    const agent = ctx.agents.create({ answer, tools: [own], toolFilter: { allow: [] } })
    expect(agent.tools.names()).toEqual(['hand_over', 'own'])
    expect(agent.ownTools).toEqual([own])
    expect((await agent.run('Go.')).stopReason).toBe('completed')
    expect(model.requests[0]!.tools!.map(({ name }) => name)).toEqual(['hand_over', 'own'])
    expectExtending(model.requests)
  })

  it('has to hand over in each of its turns', async () => {
    const { ctx } = await start([good, { calls: [handOver({ n: 2 })] }, 'Text.', 'Text.'])
    const agent = ctx.agents.create({ answer })
    expect((await agent.run('Go.')).structured).toEqual({ n: 1 })
    expect((await agent.run('Again.')).structured).toEqual({ n: 2 })
    expect(await agent.run('And again.')).toMatchObject({ stopReason: 'invalid-output', diagnostic: never })
  })

  it('is told what came while it wrote text, before it is reminded', async () => {
    const { ctx } = await start([{ text: 'One.' }, { text: 'One, still.' }, good])
    const agent = ctx.agents.create({ answer })
    agent.on(event => { if (event.type === 'text-delta' && event.text === 'One.') agent.inject({ text: () => 'News.', delivered: () => {} }) })
    expect((await agent.run('Go.')).stopReason).toBe('completed')
    expect(transcript(agent.session).filter(line => line.startsWith('user'))).toEqual(['user: Go.', 'user: News.', reminder])
  })
})

describe('a turn without an answer that fits is invalid-output, and keeps what there is as partial:', () => {
  it.each<[string, FakeReply[], string, string]>([
    ['text twice', [{ text: 'One.' }, { text: 'I said one.' }], never, 'I said one.'],
    ['nothing twice', [{}, {}], never, ''],
    ['two calls that do not fit', [bad, bad], wrong, '{"n":"one"}'],
    ['a third try does not come', [bad, { calls: [handOver({})] }, good], wrong, '{}'],
    ['text, then two calls that do not fit', [{ text: 'One.' }, bad, bad], wrong, '{"n":"one"}'],
    ['a call that does not fit, then text twice', [bad, { text: 'One.' }, { text: 'One!' }], wrong, 'One!'],
    ['arguments that are no JSON, twice', [{ calls: [handOver('{"n": ')] }, { calls: [handOver('[1]')] }], 'hand_over was called with what does not fit: no JSON object', ''],
  ])('%s', async (_what, replies, diagnostic, partial) => {
    const { ctx } = await start(replies)
    const agent = ctx.agents.create({ answer })
    const result = await agent.run('Go.')
    expect(result).toMatchObject({ stopReason: 'invalid-output', diagnostic })
    expect(textOf(result.output)).toBe(partial)
    expect(result).not.toHaveProperty('structured')
    expectBalanced(agent.session)
  })

  it('text in its last request, for which there is no reminder left', async () => {
    const { ctx, model } = await start(['One.'])
    expect(await ctx.agents.create({ answer, maxSteps: 1 }).run('Go.')).toMatchObject({ stopReason: 'invalid-output', diagnostic: never, output: [{ text: 'One.' }] })
    expect(model.requests).toHaveLength(1)
  })
})

describe('calls beside the answer', () => {
  it('run, whether they come before or after it, and all results are in the log', async () => {
    const { ctx } = await start([{ calls: [{ name: 'save' }, handOver(), { name: 'save' }] }])
    let saved = 0
    ctx.tools.register(tool('save', { execute: () => `saved ${++saved}` }))
    const agent = ctx.agents.create({ answer })
    expect(await agent.run('Go.')).toMatchObject({ stopReason: 'completed', structured: { n: 1 }, usage: { toolCalls: 3 } })
    expect(resultsOf(agent.session).map(output => 'value' in output && output.value)).toEqual(['saved 1', 'Handed over.', 'saved 2'])
    expectBalanced(agent.session)
  })

  it('do not take its success away when they fail', async () => {
    const { ctx } = await start([{ calls: [handOver(), { name: 'no_such_tool' }] }])
    expect((await ctx.agents.create({ answer }).run('Go.')).stopReason).toBe('completed')
  })

  it('that are answers too: the last that fits counts, and one step that does not fit is one try', async () => {
    const { ctx } = await start([{ calls: [handOver({}), handOver({ n: 'x' })] }, { calls: [handOver({ n: 1 }), handOver({ n: 2 }), handOver({})] }])
    expect(await ctx.agents.create({ answer }).run('Go.')).toMatchObject({ stopReason: 'completed', structured: { n: 2 }, steps: 2 })
  })
})

describe('an answer does not complete a turn', () => {
  const cut = { stopReason: 'timeout', diagnostic: 'time is up' } as const

  it.each([['length', 'max-tokens'], ['content-filter', 'refusal'], ['error', 'error']] as const)('whose reply ended with %s: it is not handed over', async (finish, stopReason) => {
    const { ctx } = await start([{ ...good, finish }])
    const agent = ctx.agents.create({ answer })
    const result = await agent.run('Go.')
    expect(result.stopReason).toBe(stopReason)
    expect(result).not.toHaveProperty('structured')
    expectBalanced(agent.session)
  })

  it('that is aborted while a call beside it runs', async () => {
    const { ctx } = await start([{ calls: [handOver(), { name: 'wait' }] }])
    const waiting = gate()
    ctx.tools.register(tool('wait', { execute: (_args, { signal }) => new Promise((_resolve, reject) => {
      signal!.addEventListener('abort', () => { reject(signal!.reason as Error) })
      waiting.open()
    }) }))
    const agent = ctx.agents.create({ answer })
    const running = agent.run('Go.')
    await waiting.opened
    agent.abort(new Error('enough'))
    expect(await running).toMatchObject({ stopReason: 'aborted', diagnostic: 'enough' })
    expectBalanced(agent.session)
  })

  it('that is cut while a call beside it runs: that ends with the reason of the cut', async () => {
    const { ctx } = await start([{ calls: [handOver(), { name: 'look' }] }, 'So far: one.'])
    const agent = ctx.agents.create({ answer })
    ctx.tools.register(tool('look', { execute: () => { agent.wrapUp(cut); return 'done' } }))
    const result = await agent.run('Go.')
    expect(result).toMatchObject({ ...cut, output: [{ text: 'So far: one.' }] })
    expect(result).not.toHaveProperty('structured')
  })

  it('that wraps up, where no call is run any more', async () => {
    const { ctx } = await start([bad, good])
    const agent = ctx.agents.create({ answer, maxSteps: 1 })
    expect((await agent.run('Go.')).stopReason).toBe('max-steps')
    expect(transcript(agent.session).at(-1)).toBe('tool: Error: the call was not run: the turn is over')
    expectBalanced(agent.session)
  })
})

it('an agent without one ends with its text, and may have a tool of that name', async () => {
  const { ctx } = await start([good, 'Done.'])
  ctx.tools.register(tool('hand_over'))
  const result = await ctx.agents.create().run('Go.')
  expect(result).toMatchObject({ stopReason: 'completed', output: [{ text: 'Done.' }] })
  expect(result).not.toHaveProperty('structured')
})

describe('completed means: ended by itself, with an answer that fits', () => {
  const replies: FakeReply[] = [
    good, bad, { text: 'One.', ...good }, { text: 'One.' }, {}, { reasoning: 'Hm.' }, { calls: [{ name: 'look' }] }, { calls: [{ name: 'look' }, handOver(), { name: 'no_such' }] },
    { calls: [handOver('not json')] }, { ...good, finish: 'length' }, { ...good, finish: 'other' }, { ...good, breaks: new Error('broken') }, { text: 'On', finish: 'length' },
  ]
  const fits = ({ calls = [], finish, breaks }: FakeReply): boolean =>
    finish === undefined && breaks === undefined && calls.some(({ name, args }) => name === 'hand_over' && typeof args === 'object' && (args as { n?: unknown }).n === 1)

  it('over many scripts of three replies, and cuts and aborts anywhere in them', async () => {
    const { ctx, model } = await start((_request, index) => script[index - asked] ?? good)
    let script: FakeReply[] = []
    let asked = 0
    ctx.tools.register(tool('look'))
    let seed = 1
    const below = (n: number): number => (seed = seed * 16807 % 2147483647) % n
    for (const first of replies) for (const second of replies) for (let i = 0; i < 4; i++) {
      script = [first, second, replies[below(replies.length)]!]
      asked = model.requests.length
      const agent = ctx.agents.create({ answer, maxSteps: 1 + below(4) })
      const [cutAt, abortAt] = [below(3) === 0 ? below(12) : -1, below(4) === 0 ? below(12) : -1]
      let events = 0
      agent.on(({ type }: AgentEvent) => {
        if (type === 'turn-end') return
        if (events === cutAt) agent.wrapUp({ stopReason: 'timeout', diagnostic: 'time is up' })
        if (events === abortAt) agent.abort()
        events++
      })
      const result = await agent.run('Go.')
      const last = script[model.requests.length - asked - 1] ?? good
      const ended = !['aborted', 'timeout', 'max-steps', 'loop'].includes(result.stopReason)
      if (ended) expect(result.stopReason === 'completed').toBe(fits(last))
      expect('structured' in result).toBe(result.stopReason === 'completed')
      if (result.stopReason === 'completed') expect(JSON.parse(textOf(result.output))).toEqual(result.structured)
      else expect(result.diagnostic).toMatch(/\S/)
      expect(transcript(agent.session).filter(line => line === reminder).length).toBeLessThanOrEqual(1)
      expectBalanced(agent.session)
      await agent.dispose()
    }
  }, 30_000)
})
