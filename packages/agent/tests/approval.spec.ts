import { describe, expect, it } from 'vitest'
import type { Agent } from '../src/index.ts'
import { gate, never, start, tool, transcript } from './support.ts'

const calls = (...names: string[]) => ({ calls: names.map(name => ({ name })) })

describe('a turn whose call waits for an approval', () => {
  it('says so until the last has its answer, and ending a wait twice ends no other', async () => {
    const { ctx } = await start([calls('a', 'b'), 'done'])
    const [both, door] = [gate(), gate()]
    const ends: (() => void)[] = []
    for (const name of ['a', 'b']) {
      ctx.tools.register(tool(name, {
        concurrency: 'parallel',
        execute: async (_args, { agent }) => {
          if (ends.push(agent!.waitForApproval()) === 2) both.open()
          await door.opened
          return name
        },
      }))
    }
    const agent = ctx.agents.create()
    const turn = agent.run('Go.')
    await both.opened
    expect(agent.progress).toMatchObject({ waitsFor: 'approval', tool: 'b' })
    ends[0]!()
    ends[0]!()
    expect(agent.progress?.waitsFor).toBe('approval')
    ends[1]!()
    expect(agent.progress?.waitsFor).toBe('tools')
    door.open()
    await turn
    expect(agent.progress).toBeUndefined()
  })

  it('is a matter of that turn: what is left of it does not show in the next', async () => {
    const { ctx } = await start([calls('ask'), 'done', { hold: never }])
    const left: (() => void)[] = []
    ctx.tools.register(tool('ask', {
      execute: (_args, { agent }) => {
        left.push(agent!.waitForApproval())
        return 'left it open'
      },
    }))
    const agent = ctx.agents.create()
    await agent.run('Go.')
    const second = agent.run('Go on.')
    expect(agent.progress?.waitsFor).toBe('model')
    left[0]!()
    expect(agent.progress?.waitsFor).toBe('model')
    agent.abort()
    await second
  })

  it('is nothing between turns', async () => {
    const { ctx } = await start()
    const agent = ctx.agents.create()
    agent.waitForApproval()()
    expect(agent.state).toBe('idle')
  })
})

describe('the gate of the tools', () => {
  it('judges each call of each agent, and is told whose it is; what it refuses is an error result in the log', async () => {
    const { ctx } = await start([calls('a'), 'done'])
    const judged: (Agent | undefined)[] = []
    let ran = false
    ctx.tools.register(tool('a', { execute: () => { ran = true; return 'ran' } }))
    ctx.tools.core.gate = (_tool, _args, { agent, callId, signal }) => {
      judged.push(agent)
      return `not ${callId}, ${signal?.aborted}`
    }
    const agent = ctx.agents.create()
    expect((await agent.run('Go.')).stopReason).toBe('completed')
    expect(judged).toEqual([agent])
    expect(transcript(agent.session)).toContain('tool: Error: not call-1, false')
    expect(ran).toBe(false)
  })

  it('that still thinks when the turn is aborted keeps neither the turn nor the log waiting, and its call never runs', async () => {
    const { ctx } = await start([calls('a')])
    const [asked, door] = [gate(), gate()]
    let ran = false
    ctx.tools.register(tool('a', { execute: () => { ran = true; return 'ran' } }))
    ctx.tools.core.gate = async () => {
      asked.open()
      await door.opened
      return undefined
    }
    const agent = ctx.agents.create()
    const turn = agent.run('Go.')
    await asked.opened
    agent.abort()
    door.open()
    expect((await turn).stopReason).toBe('aborted')
    expect(transcript(agent.session)).toContain('tool: Error: the call was cancelled before it ran')
    expect(ran).toBe(false)
  })
})
