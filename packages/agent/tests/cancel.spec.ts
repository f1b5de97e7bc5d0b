import type { Context } from 'cordis'
import { describe, expect, it } from 'vitest'
import type { Agent, TurnResult } from '../src/index.ts'
import { gate, never, Note, record, rest, start, transcript } from './support.ts'

interface Family {
  readonly ctx: Context
  /** A root in a turn; a child under that turn; one on its own, as in the background; and a child under the turn of that one. */
  readonly agents: Record<'root' | 'near' | 'far' | 'below', Agent>
  readonly turns: Record<'root' | 'near' | 'far' | 'below', Promise<TurnResult>>
  /** Ends and cancellations, in their order. */
  readonly order: string[]
}

/** Four agents whose models never answer. */
async function family(): Promise<Family> {
  const { ctx } = await start(() => ({ hold: never }))
  const root = ctx.agents.create({ label: 'root' })
  const turns = { root: root.run('Go.') } as Family['turns']
  const child = (label: string, parent: Agent): Agent => ctx.agents.create({ label, parent })
  const near = child('near', root)
  turns.near = near.run('Go.', { signal: root.turnSignal })
  const far = child('far', root)
  turns.far = far.run('Go.', { signal: new AbortController().signal })
  const below = child('below', far)
  turns.below = below.run('Go.', { signal: far.turnSignal })
  const order: string[] = []
  for (const { turnSignal, label } of [root, near, far, below]) turnSignal!.addEventListener('abort', () => { order.push(`${label} aborted`) })
  ctx.on('agent/cancelled', ({ label }, reason) => { order.push(`${label} cancelled: ${(reason as Error).message}`) })
  return { ctx, agents: { root, near, far, below }, turns, order }
}

const enough = new Error('enough')

describe('abort()', () => {
  it('ends the turn and what runs under it, the parent first; what runs in the background goes on', async () => {
    const { agents: { root, far, below }, turns, order } = await family()
    root.abort(enough)
    expect(order).toEqual(['root aborted', 'near aborted'])
    expect((await Promise.all([turns.root, turns.near])).map(({ diagnostic }) => diagnostic)).toEqual(['enough', 'enough'])
    await rest()
    expect([far.state, below.state]).toEqual(['running', 'running'])
  })

  it('of the tree ends everything below, at every depth, each parent before its children', async () => {
    const { agents: { root }, turns, order } = await family()
    root.abort(enough, { scope: 'tree' })
    expect(order).toEqual(['root aborted', 'near aborted', 'root cancelled: enough', 'near cancelled: enough', 'far aborted', 'below aborted', 'far cancelled: enough', 'below cancelled: enough'])
    expect((await Promise.all(Object.values(turns))).map(({ stopReason, diagnostic }) => `${stopReason}: ${diagnostic}`)).toEqual(Array(4).fill('aborted: enough'))
  })

  it('of one child leaves its parent and its siblings alone', async () => {
    const { agents: { root, near, far }, turns, order } = await family()
    far.abort(enough, { scope: 'tree' })
    expect(order).toEqual(['far aborted', 'below aborted', 'far cancelled: enough', 'below cancelled: enough'])
    await Promise.all([turns.far, turns.below])
    expect([root.state, near.state]).toEqual(['running', 'running'])
  })

  it.each(['turn', 'tree'] as const)('of the %s may come again: the first reason stands', async scope => {
    const { agents: { root }, turns } = await family()
    root.abort(enough, { scope })
    root.abort(new Error('once more'), { scope })
    expect(await turns.root).toMatchObject({ stopReason: 'aborted', diagnostic: 'enough' })
    root.abort(new Error('and once more'), { scope })
    expect(await turns.near).toMatchObject({ stopReason: 'aborted', diagnostic: 'enough' })
  })

  it.each(['turn', 'tree'] as const)('of the %s is no error for an agent that has nothing to end, nor for one that is gone, of which no event comes any more', async scope => {
    const { ctx } = await start(['ok', 'ok'])
    const agent = ctx.agents.create()
    agent.abort(enough, { scope })
    expect((await agent.run('Go.')).stopReason).toBe('completed')
    agent.abort(enough, { scope })
    expect((await agent.run('Go on.')).stopReason).toBe('completed')
    await agent.dispose()
    let cancelled = 0
    ctx.on('agent/cancelled', () => { cancelled++ })
    agent.abort(enough, { scope })
    expect(cancelled).toBe(0)
  })

  it('with a listener that throws at agent/cancelled reaches everybody all the same', async () => {
    const { ctx, agents: { root }, turns } = await family()
    ctx.on('agent/cancelled', () => { throw new Error('not me') })
    root.abort(enough, { scope: 'tree' })
    expect((await Promise.all(Object.values(turns))).map(({ stopReason }) => stopReason)).toEqual(Array(4).fill('aborted'))
  })
})

describe('an agent that was aborted', () => {
  const moments: [string, (agent: Agent) => Promise<void>][] = [
    ['in a turn', async agent => {
      const turn = agent.run('Go.')
      agent.abort()
      await turn
    }],
    ['as its turn ended', async agent => {
      agent.on(event => { if (event.type === 'turn-end') agent.abort() })
      await agent.run('Go.')
    }],
    ['right after its turn had ended', async agent => {
      await agent.run('Go.')
      agent.abort()
    }],
    ['with a wake about to come', async agent => {
      await agent.run('Go.')
      agent.inject(new Note('It rains.'))
      agent.abort()
    }],
    ['while nothing ran, with its tree', async agent => { agent.abort(enough, { scope: 'tree' }) }],
  ]
  it.each(moments)('%s is not woken before its next input, which tells it what waited', async (_what, abort) => {
    const { ctx, model } = await start(() => 'ok')
    const agent = ctx.agents.create()
    await abort(agent)
    const { length } = model.requests
    const news = new Note('It snows.')
    agent.inject(news)
    await rest()
    expect([model.requests.length, news.told, agent.isBusy]).toEqual([length, 0, false])
    await agent.run('And now?')
    expect(transcript(agent.session).slice(-3)[0]).toMatch(/It snows\.$/)
    expect(news.told).toBe(1)
  })

  it('is woken again after that input', async () => {
    const { ctx, model } = await start(() => 'ok')
    const agent = ctx.agents.create()
    agent.abort()
    await agent.run('Go.')
    agent.inject(new Note('It rains.'))
    await rest()
    expect(model.requests).toHaveLength(2)
  })

  it('in a turn that a notice began is not woken again by what it did not hear', async () => {
    const asked = gate()
    const { ctx, model } = await start(() => { asked.open(); return { hold: never } })
    const agent = ctx.agents.create()
    const events = record(agent)
    agent.inject(new Note('It rains.'))
    await asked.opened
    agent.inject(new Note('It snows.'))
    agent.abort()
    await rest()
    expect(model.requests).toHaveLength(1)
    expect(events.filter(({ type }) => type === 'turn-end')).toHaveLength(1)
    expect(transcript(agent.session)).toEqual(['user: It rains.'])
  })
})
