import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { expectBalanced, record, resultsOf, start, tool } from './support.ts'

const calls = (...names: string[]) => ({ calls: names.map(name => ({ name })) })
const limits = { maxOutputBytes: 10_000, maxStepOutputBytes: 25_000 }
const valuesOf = (...args: Parameters<typeof resultsOf>): string[] => resultsOf(...args).map(output => output.type === 'text' || output.type === 'error-text' ? output.value : output.type)
const bytes = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)

function spillIn(text: string): string {
  return /\[\d+ bytes cut here; the whole output: .*?spill:(\w+)/.exec(text)?.[1] ?? expect.fail(`not cut: ${text.slice(0, 300)}`)
}

describe('what a model reads of its tools', () => {
  it('is within the limit for each, of registered tools and an agent\'s own, of roots and children, errors too; every byte is kept', async () => {
    const { ctx } = await start((_request, index) => index % 2 === 0 ? calls('registered', 'own', 'failing') : 'done', {}, { maxOutputBytes: 5000 })
    ctx.tools.register(tool('registered', { execute: () => 'é'.repeat(50_000) }))
    ctx.tools.register(tool('failing', { execute: () => { throw new Error('no '.repeat(20_000)) } }))
    const own = tool('own', { execute: () => [{ type: 'text', text: 'a'.repeat(50_000) }, { type: 'text', text: 'b' }] })
    const root = ctx.agents.create({ tools: [own] })
    for (const agent of [root, ctx.agents.create({ tools: [own], parent: root })]) {
      await agent.run('Go.')
      const values = valuesOf(agent.session)
      for (const value of values) expect(Buffer.byteLength(value)).toBeLessThanOrEqual(5000)
      expect(values.map(value => readFileSync(ctx.tools.core.spills.path(spillIn(value))!, 'utf8'))).toEqual(
        ['é'.repeat(50_000), `${'a'.repeat(50_000)}\nb`, `Error: ${'no '.repeat(20_000)}`])
      expect(resultsOf(agent.session).map(({ type }) => type)).toEqual(['text', 'text', 'error-text'])
    }
  })

  it('is what the tool says where it has a limit of its own', async () => {
    const { ctx } = await start([calls('brief', 'long'), 'done'], {}, limits)
    ctx.tools.register(tool('brief', { maxOutputBytes: 1000, execute: () => 'x'.repeat(1001) }))
    ctx.tools.register(tool('long', { maxOutputBytes: 20_000, execute: () => 'x'.repeat(20_000) }))
    const agent = ctx.agents.create()
    await agent.run('Go.')
    const [brief, long] = valuesOf(agent.session)
    expect(spillIn(brief!)).toBeDefined()
    expect(long).toBe('x'.repeat(20_000))
  })

  it('is within the limit for a step together, whichever ended first; the short ones stay whole', async () => {
    const names = ['big', 'small', 'big', 'big', 'small', 'big']
    const { ctx, model } = await start([calls(...names), 'done'], {}, limits)
    let n = 0
    ctx.tools.register(tool('big', { concurrency: 'parallel', execute: () => `${++n}`.repeat(9000) }))
    ctx.tools.register(tool('small', { execute: () => 'small' }))
    const agent = ctx.agents.create()
    await agent.run('Go.')
    const values = valuesOf(agent.session)
    expect(bytes(values)).toBeLessThanOrEqual(limits.maxStepOutputBytes)
    expect(bytes(values)).toBeGreaterThan(limits.maxStepOutputBytes - 1500)
    expect(values.map(value => value[0])).toEqual(['1', 's', '2', '3', 's', '4'])
    expect([values[1], values[4]]).toEqual(['small', 'small'])
    expectBalanced(agent.session)
    // The log says what the model was sent.
    const sent = model.requests[1]!.prompt.at(-1)!
    expect(JSON.stringify(sent)).toBe(JSON.stringify(agent.session.entries()[2]!.message))
  })

  it('is left alone where it fits', async () => {
    const { ctx } = await start([calls('big', 'big'), 'done'], {}, limits)
    ctx.tools.register(tool('big', { execute: () => 'x'.repeat(10_000) }))
    const agent = ctx.agents.create()
    await agent.run('Go.')
    expect(valuesOf(agent.session)).toEqual(['x'.repeat(10_000), 'x'.repeat(10_000)])
  })

  it('is what people are shown of each call when it ends', async () => {
    const { ctx } = await start([calls('big'), 'done'], {}, limits)
    ctx.tools.register(tool('big', { execute: () => 'x'.repeat(50_000) }))
    const agent = ctx.agents.create()
    const events = record(agent)
    await agent.run('Go.')
    expect(events).toContainEqual(expect.objectContaining({ type: 'tool-end', result: { isError: false, content: [{ type: 'text', text: valuesOf(agent.session)[0] }] } }))
  })

  it('is the same again for the same long output: a model that goes in circles is noticed', async () => {
    const { ctx } = await start(() => calls('big'), { maxRepeats: 3 }, limits)
    let ran = 0
    ctx.tools.register(tool('big', { execute: () => { ran++; return 'x'.repeat(50_000) } }))
    expect((await ctx.agents.create().run('Go.')).stopReason).toBe('loop')
    expect(ran).toBe(3)
  })

  it('is not the same where long outputs differ in what is cut', async () => {
    const { ctx } = await start((_request, index) => index < 5 ? calls('big') : 'done', { maxRepeats: 3 }, limits)
    let ran = 0
    ctx.tools.register(tool('big', { execute: () => `${'x'.repeat(25_000)}${ran++}${'x'.repeat(25_000)}` }))
    expect((await ctx.agents.create().run('Go.')).stopReason).toBe('completed')
  })
})

describe('what a model is told in one message', () => {
  it('is within the limit for a step: what goes over it is told briefly, in order', async () => {
    const { ctx, model } = await start(['done', 'told'], {}, limits)
    const agent = ctx.agents.create()
    await agent.run('Go.')
    const asked: string[] = []
    const notice = (name: string, length: number) => ({
      text: (brief = false) => {
        asked.push(`${name}${brief ? ' briefly' : ''}`)
        return brief ? name : name.repeat(length)
      },
      delivered: () => {},
    })
    const hold = agent.hold()
    agent.abort(undefined, { scope: 'tree' })
    for (const each of [notice('a', 20_000), notice('b', 10_000), notice('c', 4000)]) agent.inject(each)
    hold()
    await agent.run('And now?')
    const [told] = model.requests[1]!.prompt.slice(-2)
    expect(told).toMatchObject({ role: 'user', content: [{ text: ['a'.repeat(20_000), 'b', 'c'.repeat(4000)].join('\n') }] })
    expect(asked.slice(-4)).toEqual(['a', 'b', 'b briefly', 'c'])
  })
})
