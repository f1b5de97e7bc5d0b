import { getEventListeners } from 'node:events'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Approval } from '../src/index.ts'
import { type App, results, resultsIn, startApp } from './support.ts'

afterEach(() => { vi.useRealTimers() })

const quiet = { asked: () => {} }

/** An app that asks for `act`, with an attendant for all; and the turn of an agent that calls it. */
async function asking(calls = 'act', config: Parameters<typeof startApp>[0] = {}): Promise<App & { readonly turn: Promise<unknown>, readonly abort: (reason: Error) => void }> {
  const app = await startApp({ execute: 'ask', ...config })
  app.ctx.approvals.attend(quiet)
  const agent = app.ctx.agents.create()
  const turn = agent.run(calls)
  await vi.waitFor(() => { expect(app.asked).toHaveLength(calls.split('; ').length) })
  return { ...app, turn, abort: reason => { agent.abort(reason) } }
}

describe('a request that asks', () => {
  it('says who asks, what for, and until when; allowed, the call runs', async () => {
    const { asked: [approval], ctx, turn, ran, settled, model } = await asking('act carefully')
    expect(approval).toMatchObject({
      id: 'approval-1', path: ['main'], verdict: undefined,
      request: { tool: 'act', effect: 'execute', summary: 'carefully', callId: expect.any(String) },
    })
    expect(approval!.expiresAt! - approval!.askedAt).toBe(300_000)
    expect(ctx.approvals.list()).toEqual([approval])
    expect(ran).toEqual([])
    approval!.allow()
    await turn
    expect(resultsIn(model)).toEqual(['act ran'])
    expect(settled).toEqual([[approval, { allowed: true, by: 'answer' }]])
    expect(ctx.approvals.list()).toEqual([])
  })

  it('denied, does not run; the model reads that, and the words', async () => {
    const { asked: [approval], turn, ran, model } = await asking()
    approval!.deny('use git instead')
    await turn
    expect(ran).toEqual([])
    expect(resultsIn(model)).toEqual(['Error: the user did not allow this call of "act": use git instead'])
  })

  it('takes the first answer, and no other', async () => {
    const { asked: [approval], turn, ran, settled } = await asking()
    approval!.allow()
    approval!.deny('too late')
    approval!.allow()
    await turn
    expect(ran).toEqual(['act'])
    expect(settled).toHaveLength(1)
  })

  it('leaves nothing behind once it is answered: no timer, no listener', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const app = await startApp({ execute: 'ask' })
    app.ctx.approvals.attend(quiet)
    const { signal } = new AbortController()
    const verdict = app.ctx.approvals.ask({ agent: app.ctx.agents.create(), tool: 'act', effect: 'execute', summary: '', signal })
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([1, 1])
    app.asked[0]!.allow()
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([0, 0])
    expect(Object.isFrozen(await verdict)).toBe(true)
  })

  it('waits for a person, says its turn', async () => {
    const app = await startApp({ execute: 'ask' })
    app.ctx.approvals.attend(quiet)
    const agent = app.ctx.agents.create()
    const turn = agent.run('act; act')
    await vi.waitFor(() => { expect(app.asked).toHaveLength(2) })
    expect(agent.progress?.waitsFor).toBe('approval')
    app.asked[0]!.allow()
    expect(agent.progress?.waitsFor).toBe('approval')
    app.asked[1]!.allow()
    expect(agent.progress?.waitsFor).not.toBe('approval')
    await turn
  })
})

describe('nobody to ask', () => {
  const why = 'Error: "act" needs an approval, and nobody is here to give it (approvals: execute; "allow" there lets it run, and on a terminal it is asked for)'

  it('is a denial that says why, without a question', async () => {
    const app = await startApp({ execute: 'ask' })
    expect(await results(app, 'act')).toEqual([why])
    expect([app.asked, app.settled, app.ran]).toEqual([[], [], []])
  })

  it('any more is one too, once the last has left', async () => {
    const app = await startApp({ execute: 'ask' })
    const [leaveFirst, leaveLast] = [app.ctx.approvals.attend(quiet), app.ctx.approvals.attend(quiet)]
    const turn = app.ctx.agents.create().run('act')
    await vi.waitFor(() => { expect(app.asked).toHaveLength(1) })
    leaveFirst()
    expect(app.asked[0]!.verdict).toBeUndefined()
    leaveLast()
    leaveLast()
    expect(app.asked[0]!.verdict).toMatchObject({ allowed: false, by: 'nobody' })
    await turn
    expect(resultsIn(app.model)).toEqual([why])
  })

  it('is what is left when the plugin that attended goes', async () => {
    const app = await startApp({ execute: 'ask' })
    const fiber = app.ctx.plugin({ name: 'attendant', inject: ['approvals'], apply(ctx: typeof app.ctx) { ctx.approvals.attend(quiet) } })
    await fiber
    const turn = app.ctx.agents.create().run('act')
    await vi.waitFor(() => { expect(app.asked).toHaveLength(1) })
    await fiber.dispose()
    await turn
    expect(resultsIn(app.model)).toEqual([why])
  })
})

describe('a question that nobody answers', () => {
  it('is a denial at its deadline', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const app = await startApp({ execute: 'ask', timeoutMs: 1000 })
    app.ctx.approvals.attend(quiet)
    const verdict = app.ctx.approvals.ask({ agent: app.ctx.agents.create(), tool: 'act', effect: 'execute', summary: '' })
    await vi.advanceTimersByTimeAsync(999)
    expect(app.settled).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(await verdict).toEqual({ allowed: false, by: 'deadline', reason: 'nobody said within 1000 ms whether "act" may run (approvals: timeoutMs)' })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is settled in the same tick in which who asks is cancelled', async () => {
    const app = await asking()
    app.abort(new Error('enough'))
    expect(app.asked[0]!.verdict).toMatchObject({ allowed: false, by: 'ended' })
    expect(app.ctx.approvals.list()).toEqual([])
    await app.turn
    expect(app.ran).toEqual([])
    app.asked[0]!.allow()
    expect(app.settled).toHaveLength(1)
  })

  it('is settled when the plugin that asks goes: its call does not run', async () => {
    const app = await asking()
    const [fiber] = [...app.ctx.registry.values()].flatMap(plugin => [...plugin.fibers]).filter(({ name }) => name === 'ApprovalService')
    await fiber!.dispose()
    expect(app.asked[0]!.verdict).toMatchObject({ allowed: false, by: 'ended' })
    await app.turn
    expect(app.ran).toEqual([])
  })

  it('is settled when the app goes', async () => {
    const app = await asking()
    await app.ctx.fiber.dispose()
    expect(app.asked[0]!.verdict).toMatchObject({ allowed: false })
    expect(app.ran).toEqual([])
  })

  it('that comes after who asks has ended is not put', async () => {
    const app = await startApp({ execute: 'ask' })
    app.ctx.approvals.attend(quiet)
    const agent = app.ctx.agents.create()
    const request = { agent, tool: 'act', effect: 'execute' as const, summary: '' }
    expect(await app.ctx.approvals.ask({ ...request, signal: AbortSignal.abort() })).toMatchObject({ by: 'ended' })
    await agent.dispose()
    expect(await app.ctx.approvals.ask(request)).toMatchObject({ by: 'ended' })
    expect(app.asked).toEqual([])
  })

  it('allowed as its turn ends does not run any more', async () => {
    const app = await asking()
    app.asked[0]!.allow()
    app.abort(new Error('enough'))
    await app.turn
    expect(app.ran).toEqual([])
  })
})

describe('ask()', () => {
  it('asks also where the config allows it, and not where it denies', async () => {
    const app = await startApp({ execute: 'allow', write: 'deny' })
    const seen: Approval[] = []
    app.ctx.approvals.attend({ asked: approval => { seen.push(approval); approval.allow() } })
    const agent = app.ctx.agents.create()
    expect(await app.ctx.approvals.ask({ agent, asker: 'run-1 codex', tool: 'codex execute', effect: 'execute', summary: 'ls' })).toEqual({ allowed: true, by: 'answer' })
    expect(seen[0]!.path).toEqual(['main', 'run-1 codex'])
    expect(await app.ctx.approvals.ask({ agent, tool: 'codex edit', effect: 'write', summary: 'a.ts' })).toMatchObject({ allowed: false, by: 'policy' })
    expect(seen).toHaveLength(1)
  })

  it('with nobody to ask says so, and names no policy that would have let it run', async () => {
    const app = await startApp()
    expect(await app.ctx.approvals.ask({ agent: app.ctx.agents.create(), tool: 'codex execute', effect: 'execute', summary: 'ls' })).toEqual({
      allowed: false, by: 'nobody', reason: '"codex execute" needs an approval, and nobody is here to give it (on a terminal it is asked for)',
    })
  })

  it('is settled when the agent that it is for goes, and no other', async () => {
    const app = await startApp()
    app.ctx.approvals.attend(quiet)
    const [agent, other] = [app.ctx.agents.create(), app.ctx.agents.create()]
    const verdicts = [agent, other].map(each => app.ctx.approvals.ask({ agent: each, asker: 'run-1 codex', tool: 'codex execute', summary: '' }))
    await agent.dispose()
    expect(app.ctx.approvals.list().map(({ root }) => root)).toEqual([other])
    expect(await verdicts[0]).toMatchObject({ by: 'ended' })
    app.asked[1]!.allow()
    expect(await verdicts[1]).toEqual({ allowed: true, by: 'answer' })
  })

  it('is settled in the same tick in which its agent is disposed, though a call of it waits for the answer and nothing could abort that', async () => {
    const app = await startApp({ execute: 'ask' })
    app.ctx.approvals.attend(quiet)
    const agent = app.ctx.agents.create()
    const verdicts: unknown[] = []
    app.ctx.tools.register(defineTool({ name: 'outside', description: 'Asks.', parameters: Type.Object({}), effect: 'read', execute: async () => {
      verdicts.push(await app.ctx.approvals.ask({ agent, tool: 'codex execute', summary: '' }))
      return 'asked'
    } }))
    const turn = agent.run('outside')
    await vi.waitFor(() => { expect(app.asked).toHaveLength(1) })
    agent.abort()
    expect(app.asked[0]!.verdict).toBeUndefined()
    const disposed = agent.dispose()
    expect(app.asked[0]!.verdict).toMatchObject({ allowed: false, by: 'ended' })
    expect(app.ctx.approvals.list()).toEqual([])
    await Promise.all([disposed, turn])
    expect(verdicts).toMatchObject([{ by: 'ended' }])
  })

  it('is settled when the tree of its agent is cancelled, and keeps nothing of that agent under way', async () => {
    const app = await startApp({ execute: 'ask' })
    app.ctx.approvals.attend(quiet)
    const agent = app.ctx.agents.create()
    const verdict = app.ctx.approvals.ask({ agent, asker: 'run-1 codex', tool: 'codex execute', summary: '' })
    expect(agent.isBusy).toBe(true)
    agent.abort(new Error('enough'), { scope: 'tree' })
    expect(app.asked[0]!.verdict).toMatchObject({ by: 'ended' })
    expect(agent.isBusy).toBe(false)
    await verdict
  })

  it('leaves it to the run of a child elsewhere to say that it waits', async () => {
    const app = await startApp({ execute: 'ask' })
    app.ctx.approvals.attend(quiet)
    const agent = app.ctx.agents.create()
    let verdict: Promise<unknown> | undefined
    app.ctx.tools.register(defineTool({ name: 'outside', description: 'Asks.', parameters: Type.Object({}), effect: 'read', execute: async () => {
      verdict = app.ctx.approvals.ask({ agent, asker: 'run-1 codex', tool: 'codex execute', summary: '' })
      await verdict
      return 'asked'
    } }))
    const turn = agent.run('outside')
    await vi.waitFor(() => { expect(app.asked).toHaveLength(1) })
    expect(agent.progress?.waitsFor).toBe('tools')
    app.asked[0]!.allow()
    await turn
  })
})
