import { describe, expect, it } from 'vitest'
import type { AgentEvent } from '../src/index.ts'
import { finish, gate, record, start, tool } from './support.ts'

/** An event in short. */
function short(event: AgentEvent): string {
  switch (event.type) {
    case 'step-start': return `step ${event.step}`
    case 'text-delta':
    case 'reasoning-delta': return `${event.type} ${event.text}`
    case 'tool-start': return `tool-start ${event.name} ${JSON.stringify(event.args)}`
    case 'tool-progress': return `tool-progress ${event.name} ${event.update}`
    case 'tool-end': return `tool-end ${event.name} ${event.result.isError ? 'failed' : 'ok'}`
    case 'turn-end': return `turn-end ${event.result.stopReason}`
    default: return event.type
  }
}

describe('agent.on()', () => {
  it('hears everything in the order in which it happens', async () => {
    const { ctx } = await start([
      { reasoning: 'Hm.', text: 'Look:', calls: [{ name: 'look', args: { at: 1 } }, { name: 'look', args: '[' }] },
      { parts: [{ type: 'text-delta', id: 't', delta: 'It' }, { type: 'text-delta', id: 't', delta: ' is.' }, finish()] },
    ])
    ctx.tools.register(tool('look', { execute: (_args, { progress }) => { progress?.('half'); return 'ok' } }))
    const agent = ctx.agents.create()
    const events = record(agent)
    const result = await agent.run('Go.')
    expect(events.map(short)).toEqual([
      'turn-start',
      'step 1', 'reasoning-delta Hm.', 'text-delta Look:',
      'tool-start look {"at":1}', 'tool-progress look half', 'tool-end look ok',
      'tool-start look undefined', 'tool-end look failed',
      'step 2', 'text-delta It', 'text-delta  is.',
      'turn-end completed',
    ])
    expect(events.at(-1)).toEqual({ type: 'turn-end', result })
  })

  it('hears a result before it is in the log, and the end while the turn still counts as running', async () => {
    const { ctx } = await start([{ calls: [{ name: 'look' }] }, 'done'])
    ctx.tools.register(tool('look'))
    const agent = ctx.agents.create()
    const seen: unknown[] = []
    agent.on(({ type }) => { if (type === 'tool-end' || type === 'turn-end') seen.push([type, agent.session.length, agent.state]) })
    await agent.run('Go.')
    expect(seen).toEqual([['tool-end', 2, 'running'], ['turn-end', 4, 'running']])
  })

  it.each(['turn-start', 'step-start', 'text-delta', 'tool-start', 'tool-end', 'turn-end'])('a listener that throws at %s is logged, and costs neither the turn nor other listeners anything', async (type) => {
    const { ctx, logged } = await start([{ text: 'Look:', calls: [{ name: 'look' }] }, 'done'])
    ctx.tools.register(tool('look'))
    const agent = ctx.agents.create()
    const broken = new Error('broken display')
    agent.on(event => { if (event.type === type) throw broken })
    const events = record(agent)
    expect((await agent.run('Go.')).stopReason).toBe('completed')
    expect(events.map(event => event.type)).toContain(type)
    expect(logged).toContain(broken)
  })

  it('a listener that rejects is logged', async () => {
    const { ctx, logged } = await start(['done'])
    const agent = ctx.agents.create()
    agent.on(async ({ type }) => { if (type === 'turn-start') throw new Error('rejected') })
    await agent.run('Go.')
    expect(logged).toContainEqual(new Error('rejected'))
  })

  it('ends when the returned function is called, also in the middle of a reply', async () => {
    const { ctx } = await start([{ parts: ['one', 'two', 'three'].map(delta => ({ type: 'text-delta' as const, id: 't', delta })).concat(finish() as never) }])
    const agent = ctx.agents.create()
    const heard: string[] = []
    const off = agent.on(event => {
      heard.push(short(event))
      if (event.type === 'text-delta') off()
    })
    await agent.run('Go.')
    expect(heard).toEqual(['turn-start', 'step 1', 'text-delta one'])
    off()
  })

  it('begins in the middle of a reply', async () => {
    const more = gate()
    const { ctx } = await start([{ text: 'unheard', reasoning: 'first', holdAfter: more.opened }])
    const agent = ctx.agents.create()
    const turn = agent.run('Go.')
    const events = record(agent)
    more.open()
    await turn
    expect(events.map(short)).toEqual(['reasoning-delta first', 'text-delta unheard', 'turn-end completed'])
  })

  it('of one function twice is two, each with its own end', async () => {
    const { ctx } = await start(() => 'ok')
    const agent = ctx.agents.create()
    let heard = 0
    const listener = ({ type }: AgentEvent): void => { if (type === 'turn-start') heard++ }
    const [off, offToo] = [agent.on(listener), agent.on(listener)]
    await agent.run('Go.')
    off()
    off()
    await agent.run('Go.')
    offToo()
    await agent.run('Go.')
    expect(heard).toBe(3)
  })

  it('hears nothing of other agents', async () => {
    const { ctx } = await start(() => 'ok')
    const agent = ctx.agents.create()
    const events = record(agent)
    await ctx.agents.create({ parent: agent }).run('Go.')
    expect(events).toEqual([])
  })
})
