import type { ModelStreamPart } from '@offshoot/model'
import type { FakeReply } from '@offshoot/model/testing'
import { textOf } from '@offshoot/session'
import { expect, it } from 'vitest'
import { Random } from '../../../tests/random.ts'
import { expectBalanced, expectExtending, finish, messagesOf, start, tool, transcript } from './support.ts'

const runs = 400

const names = ['par', 'par', 'exc', 'bad', 'unknown']
const args = [{}, {}, '{ }', '', 'not json', '{"half":', { stray: [1, { deep: true }] }]

/** Anything that a model may send, sense or nonsense. */
function randomReply(random: Random): FakeReply {
  const calls = random.chance(0.45) ? Array.from({ length: 1 + random.below(4) }, () => ({ name: random.pick(names), args: random.pick(args) })) : []
  const parts = random.chance(0.15) ? randomParts(random) : undefined
  return {
    ...(random.chance(0.6) ? { text: random.pick(['', ' \n', 'Some text.', 'Other text.']) } : {}),
    ...(random.chance(0.3) ? { reasoning: random.pick(['', 'Hm.']) } : {}),
    calls,
    ...(random.chance(0.2) ? { finish: random.pick(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'] as const) } : {}),
    ...(random.chance(0.05) ? { error: new Error('refused') } : {}),
    ...(random.chance(0.07) ? { breaks: new Error('broken') } : {}),
    ...(parts ? { parts } : {}),
  }
}

function randomParts(random: Random): ModelStreamPart[] {
  const id = (): string => random.pick(['0', '1'])
  const make: (() => ModelStreamPart)[] = [
    () => ({ type: 'text-start', id: id() }), () => ({ type: 'text-delta', id: id(), delta: random.pick(['a', ' ', '']) }), () => ({ type: 'text-end', id: id() }),
    () => ({ type: 'reasoning-start', id: id() }), () => ({ type: 'reasoning-delta', id: id(), delta: 'r' }),
    () => ({ type: 'reasoning-end', id: id(), providerMetadata: { vendor: { signature: 'x' } } }),
    () => ({ type: 'tool-call', toolCallId: `c${random.below(1e6)}`, toolName: random.pick(names), input: random.pick(['{}', '[', '{"a": 1}']), ...(random.chance(0.3) ? { providerExecuted: true } : {}) }),
    () => ({ type: 'file', mediaType: 'image/png', data: 'aGk=' }),
    () => ({ type: 'raw', rawValue: 1 }),
    () => random.chance(0.1) ? { type: 'error', error: 'broken' } : { type: 'raw', rawValue: 2 },
  ]
  const parts = Array.from({ length: random.below(12) }, () => random.pick(make)())
  return random.chance(0.9) ? [...parts, finish(random.pick(['stop', 'stop', 'tool-calls', 'length']))] : parts
}

/** Whether the reply ends by itself, with an answer. */
function isAnswer({ text = '', calls = [], finish: reason = 'stop', error, breaks }: FakeReply): boolean {
  return text.trim() !== '' && calls.length === 0 && (reason === 'stop' || reason === 'tool-calls') && error === undefined && breaks === undefined
}

/** How a turn ends that was cut before its model was done. */
const wrappedUp = ['max-steps', 'loop', 'timeout']

/** One agent, a few turns, each cut short or aborted or not. */
async function expectContract(seed: number): Promise<void> {
  const random = new Random(seed)
  let reply: FakeReply = {}
  const { ctx, model } = await start(() => reply = randomReply(random), { maxParallelTools: 1 + random.below(3) })
  ctx.tools.register(tool('par', { concurrency: 'parallel', execute: async () => { await Promise.resolve(); return 'par' } }))
  ctx.tools.register(tool('exc'))
  ctx.tools.register(tool('bad', { concurrency: random.pick(['parallel', 'exclusive']), execute: () => { throw new Error('kaput') } }))
  const agent = ctx.agents.create({ maxSteps: 1 + random.below(6) })
  let events = 0
  let abortAt = 0
  let cutAt = 0
  agent.on(() => {
    events++
    if (events === cutAt) agent.wrapUp({ stopReason: 'timeout', diagnostic: 'time is up' })
    if (events === abortAt) agent.abort()
  })

  for (let turn = 0; turn < 3; turn++) {
    events = 0
    abortAt = random.chance(0.3) ? 1 + random.below(20) : 0
    cutAt = random.chance(0.3) ? 1 + random.below(20) : 0
    const [requestsBefore, entriesBefore] = [model.requests.length, agent.session.length]
    const result = await agent.run(`Turn ${turn}.`)
    const added = messagesOf(agent.session).slice(entriesBefore)

    expectBalanced(agent.session)
    expectExtending(model.requests)
    expect(agent.state).toBe('idle')
    expect(model.requests.length - requestsBefore).toBeLessThanOrEqual(agent.maxSteps + 1)
    expect(result.usage.steps).toBe(result.steps)
    expect(transcript(agent.session).slice(entriesBefore).filter(line => line.startsWith('user: You stopped')).length).toBeLessThanOrEqual(1)

    if (!['aborted', ...wrappedUp].includes(result.stopReason) && !reply.parts) expect(result.stopReason === 'completed').toBe(isAnswer(reply))
    const last = added.at(-1)!
    const answered = last.role === 'assistant' && last.content.some(part => part.type === 'text' && part.text.trim() !== '')
    if (result.stopReason === 'completed') {
      expect(answered).toBe(true)
      expect(textOf(result.output).trim()).not.toBe('')
      expect(result).not.toHaveProperty('diagnostic')
    } else {
      expect(result.diagnostic).toMatch(/\S/)
      if (result.stopReason === 'empty-output') expect(answered).toBe(false)
      if (wrappedUp.includes(result.stopReason)) expect(transcript(agent.session).slice(entriesBefore).filter(line => line.startsWith('user: You have to stop here')).length).toBe(result.steps > 0 ? 1 : 0)
    }
  }
}

it(`whatever a model sends, a turn ends, its log is balanced, each request extends the one before, and only an answer completes it (${runs} random scripts)`, async () => {
  for (let seed = 1; seed <= runs; seed++) {
    await expectContract(seed).catch((error: unknown) => { throw new Error(`seed ${seed}`, { cause: error }) })
  }
}, 30_000)
