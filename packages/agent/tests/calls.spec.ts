import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import type { Agent } from '../src/index.ts'
import { expectBalanced, gate, type Gate, record, resultsOf, start, tool, transcript } from './support.ts'

const calls = (...names: string[]) => ({ calls: names.map(name => ({ name })) })

describe('the calls of one step', () => {
  it('of parallel tools overlap: each waits until all have begun; the results come in the model\'s order', async () => {
    const { ctx } = await start([calls('a', 'b', 'c'), 'done'])
    const all = gate()
    const ended: string[] = []
    const gates: Record<string, Gate> = { a: gate(), b: gate(), c: gate() }
    gates['c']!.open()
    let begun = 0
    for (const [name, next] of [['a', undefined], ['b', 'a'], ['c', 'b']] as const) {
      ctx.tools.register(tool(name, {
        concurrency: 'parallel',
        execute: async () => {
          if (++begun === 3) all.open()
          await all.opened
          // The last called ends first.
          await gates[name]!.opened
          ended.push(name)
          if (next) gates[next]!.open()
          return name
        },
      }))
    }
    const agent = ctx.agents.create()
    expect((await agent.run('Go.')).stopReason).toBe('completed')
    expect(ended).toEqual(['c', 'b', 'a'])
    expect(transcript(agent.session)).toContain('tool: a b c')
    expectBalanced(agent.session)
  })

  it('of an exclusive tool run alone: a barrier between parallel ones', async () => {
    const { ctx } = await start([calls('p', 'p', 'x', 'p', 'x', 'x'), 'done'])
    const running: string[] = []
    const seen: string[] = []
    for (const [name, concurrency] of [['p', 'parallel'], ['x', 'exclusive']] as const) {
      ctx.tools.register(tool(name, {
        concurrency,
        execute: async () => {
          running.push(name)
          await Promise.resolve()
          seen.push([...running].sort().join(''))
          running.splice(running.indexOf(name), 1)
          return name
        },
      }))
    }
    await ctx.agents.create().run('Go.')
    expect(seen).toEqual(['pp', 'p', 'x', 'p', 'x', 'x'])
  })

  it('are exclusive unless the tool says otherwise, and so is a call of a tool that does not exist', async () => {
    const { ctx } = await start([calls('default', 'default', 'parallel', 'nothing', 'parallel'), 'done'])
    let running = 0
    let most = 0
    const execute = async () => {
      most = Math.max(most, ++running)
      await Promise.resolve()
      running--
      return ''
    }
    ctx.tools.register(tool('default', { execute }))
    ctx.tools.register(tool('parallel', { execute, concurrency: 'parallel' }))
    await ctx.agents.create().run('Go.')
    expect(most).toBe(1)
  })

  it.each([[{}, 10], [{ maxParallelTools: 3 }, 3], [{ maxParallelTools: 1 }, 1]])('overlap up to maxParallelTools (config %o: %i), and the next begins when one ends', async (config, limit) => {
    const { ctx } = await start([calls(...Array.from({ length: 13 }, () => 'p')), 'done'], config)
    const full = gate()
    let running = 0
    let most = 0
    let begun = 0
    ctx.tools.register(tool('p', {
      concurrency: 'parallel',
      execute: async () => {
        most = Math.max(most, ++running)
        if (++begun === limit) full.open()
        await full.opened
        running--
        return ''
      },
    }))
    expect((await ctx.agents.create().run('Go.')).usage.toolCalls).toBe(13)
    expect([most, begun]).toEqual([limit, 13])
  })

  it('keep what the others found when one throws', async () => {
    const { ctx } = await start([calls('good', 'bad', 'good'), 'done'])
    ctx.tools.register(tool('good', { concurrency: 'parallel' }))
    ctx.tools.register(tool('bad', { concurrency: 'parallel', execute: () => { throw new Error('kaput') } }))
    const agent = ctx.agents.create()
    await agent.run('Go.')
    expect(resultsOf(agent.session)).toEqual([{ type: 'text', value: 'good done' }, { type: 'error-text', value: 'Error: kaput' }, { type: 'text', value: 'good done' }])
  })
})

describe('a tool', () => {
  it('is told whose call it is, its id, the turn\'s signal, and how to report progress', async () => {
    const { ctx } = await start([{ calls: [{ name: 'look', args: { at: 'x' }, id: 'call_7' }] }, 'done'])
    const seen: unknown[] = []
    ctx.tools.register(tool('look', {
      parameters: Type.Object({ at: Type.String() }),
      execute(args, { callId, agent, signal, progress }) {
        seen.push([args, callId, agent, signal === agent!.turnSignal])
        progress?.('half way')
        return ''
      },
    }))
    const agent = ctx.agents.create()
    const events = record(agent)
    await agent.run('Go.')
    expect(seen).toEqual([[{ at: 'x' }, 'call_7', agent, true]])
    expect(events).toContainEqual({ type: 'tool-progress', callId: 'call_7', name: 'look', update: 'half way' })
    expect(JSON.stringify(agent.session.entries())).not.toContain('half way')
  })

  it('gets frozen arguments: they are the log\'s', async () => {
    const { ctx } = await start([{ calls: [{ name: 'look', args: { list: [{ a: 1 }] } }] }, 'done'])
    ctx.tools.register(tool('look', { parameters: Type.Object({ list: Type.Any() }), execute: (args) => { (args['list'] as object[]).push({}); return '' } }))
    const agent = ctx.agents.create()
    await agent.run('Go.')
    expect(resultsOf(agent.session)[0]).toMatchObject({ type: 'error-text', value: expect.stringContaining('not extensible') })
  })

  it('may answer with several blocks, which are lines of one text', async () => {
    const { ctx } = await start([calls('look'), 'done'])
    ctx.tools.register(tool('look', { execute: () => [{ type: 'text', text: 'one' }, { type: 'text', text: 'two' }] }))
    const agent = ctx.agents.create()
    await agent.run('Go.')
    expect(resultsOf(agent.session)).toEqual([{ type: 'text', value: 'one\ntwo' }])
  })

  it('may answer with files: images and others, by data or address', async () => {
    const { ctx } = await start([calls('look'), 'done'])
    ctx.tools.register(tool('look', {
      execute: () => [
        { type: 'text', text: 'Here:' },
        { type: 'file', data: 'aGk=', mediaType: 'image/png' },
        { type: 'file', data: 'https://example.org/a.png', mediaType: 'image/png' },
        { type: 'file', data: 'aGk=', mediaType: 'application/pdf', filename: 'a.pdf' },
        { type: 'file', data: 'https://example.org/a.pdf', mediaType: 'application/pdf' },
      ],
    }))
    const agent = ctx.agents.create()
    await agent.run('Go.')
    expect(resultsOf(agent.session)).toEqual([{
      type: 'content',
      value: [
        { type: 'text', text: 'Here:' },
        { type: 'image-data', data: 'aGk=', mediaType: 'image/png' },
        { type: 'image-url', url: 'https://example.org/a.png' },
        { type: 'file-data', data: 'aGk=', mediaType: 'application/pdf', filename: 'a.pdf' },
        { type: 'file-url', url: 'https://example.org/a.pdf', mediaType: 'application/pdf' },
      ],
    }])
  })
})

describe('an agent\'s tools', () => {
  const seenBy = (agent: Agent): string[] => agent.tools.names()

  it('are the registered ones, those its filter hides left out of requests and refused when called', async () => {
    const { ctx, model } = await start([calls('hidden', 'shown'), 'done'])
    for (const name of ['hidden', 'shown']) ctx.tools.register(tool(name))
    const agent = ctx.agents.create({ toolFilter: { deny: ['hidden'] } })
    await agent.run('Go.')
    expect(model.requests[0]!.tools!.map(({ name }) => name)).toEqual(['shown'])
    expect(transcript(agent.session)).toContain('tool: Error: unknown tool "hidden" (tools: shown) shown done')
  })

  it('include its own, which no filter touches and which go before a registered one of that name', async () => {
    const { ctx } = await start([calls('own', 'shown'), 'done'])
    for (const name of ['own', 'shown']) ctx.tools.register(tool(name, { execute: () => 'registered' }))
    const agent = ctx.agents.create({ tools: [tool('own', { execute: () => 'mine' })], toolFilter: { allow: ['shown'] } })
    expect(seenBy(agent)).toEqual(['own', 'shown'])
    await agent.run('Go.')
    expect(transcript(agent.session)).toContain('tool: mine registered')
    expect(seenBy(ctx.agents.create({ tools: [tool('own')], toolFilter: { allow: [] } }))).toEqual(['own'])
  })

  it('are not its children\'s, and neither is its filter', async () => {
    const { ctx } = await start()
    for (const name of ['a', 'b']) ctx.tools.register(tool(name))
    const parent = ctx.agents.create({ tools: [tool('own')], toolFilter: { allow: ['a'] } })
    expect(seenBy(ctx.agents.create({ parent }))).toEqual(['a', 'b'])
  })

  it('follow the registry: a change during a step is seen at the next', async () => {
    const { ctx, model } = await start([calls('change'), 'done'])
    const withdraw = ctx.tools.register(tool('change', { execute: () => { withdraw(); ctx.tools.register(tool('fresh')); return 'changed' } }))
    await ctx.agents.create().run('Go.')
    expect(model.requests.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([['change'], ['fresh']])
  })

  it('are for one step what its request said: a tool withdrawn since is still run', async () => {
    const { ctx } = await start([calls('first', 'second'), 'done'])
    const withdraw = ctx.tools.register(tool('second'))
    ctx.tools.register(tool('first', { execute: () => { withdraw(); return 'withdrawn' } }))
    const agent = ctx.agents.create()
    await agent.run('Go.')
    expect(transcript(agent.session)).toContain('tool: withdrawn second done')
  })

  it('are one view until the registry changes, shared by the agents that see the same', async () => {
    const { ctx } = await start()
    ctx.tools.register(tool('a'))
    const [one, two] = [ctx.agents.create(), ctx.agents.create()]
    const view = one.tools
    expect([one.tools, two.tools]).toEqual([view, view])
    expect(two.tools).toBe(view)
    ctx.tools.register(tool('b'))
    expect(one.tools).not.toBe(view)
  })
})
