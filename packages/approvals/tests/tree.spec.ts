import type {} from '@offshoot/subagent'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Approval } from '../src/index.ts'
import { act, child, delegating, labelOf, type Plan, readBy } from './delegating.ts'
import { resultsOf } from './support.ts'

const sevenAtOnce: Plan = {
  'main': [child('a'), child('b', { inBackground: true }), act('0')],
  'a': [act('a1'), child('aa'), child('ab', { inBackground: true })],
  'b': [act('b1'), act('b2')],
  'aa': [act('aa1'), child('aaa')],
  'ab': [act('ab1')],
  'aaa': [act('aaa1')],
}

describe('seven questions at once, from every depth, in front and in the background', () => {
  it('are queued, labelled with who asks, and each answered for itself, in any order', async () => {
    const app = await delegating(sevenAtOnce, { execute: 'ask' }, { subagents: { maxDepth: 4 } })
    const root = app.ctx.agents.create()
    app.ctx.approvals.attend({ asked: () => {} }, root)
    const turn = root.runToQuiet('Go.')
    await vi.waitFor(() => { expect(app.asked).toHaveLength(7) })
    expect(app.ctx.approvals.list(root)).toHaveLength(7)
    const paths = Object.fromEntries(app.asked.map(({ request: { summary }, path }) => [summary, path.join(' › ')]))
    expect(paths).toEqual({
      '0': 'main', 'a1': 'main › a', 'b1': 'main › b', 'b2': 'main › b', 'ab1': 'main › a › ab', 'aa1': 'main › a › aa', 'aaa1': 'main › a › aa › aaa',
    })
    const of = (summary: string): Approval => app.asked.find(({ request }) => request.summary === summary)!
    for (const summary of ['aaa1', '0', 'b2', 'a1']) of(summary).allow()
    for (const summary of ['b1', 'aa1', 'ab1']) of(summary).deny()
    await turn
    expect(app.ran.sort()).toEqual(['act 0', 'act a1', 'act aaa1', 'act b2'])
    expect(app.ctx.approvals.list()).toEqual([])
    expect(app.settled).toHaveLength(app.asked.length)
  })
})

describe('a child that waits for an approval', () => {
  it('shows that in the tree, and its silence does not count', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    onTestFinished(() => { vi.useRealTimers() })
    const app = await delegating({ main: [child('a')], a: [act('a1')] }, { execute: 'ask' }, { subagents: { deadlines: { idleMs: 1000, firstTokenMs: 1000 } } })
    app.ctx.approvals.attend({ asked: () => {} })
    const turn = app.ctx.agents.create().run('Go.')
    await vi.waitFor(() => { expect(app.asked).toHaveLength(1) })
    expect(app.ctx.subagents.tree()).toMatchObject([{ label: 'a', waitsFor: 'approval' }])
    await vi.advanceTimersByTimeAsync(60_000)
    app.asked[0]!.allow()
    await turn
    expect(app.ran).toEqual(['act a1'])
    expect(readBy(app, 'main')).toEqual(['a is done'])
  })

  it('has its own time all the same; when that ends, so does the question', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    onTestFinished(() => { vi.useRealTimers() })
    const app = await delegating({ main: [child('a')], a: [act('a1')] }, { execute: 'ask' }, { subagents: { deadlines: { timeoutMs: 5000, wrapUpMs: 1000 } } })
    app.ctx.approvals.attend({ asked: () => {} })
    const turn = app.ctx.agents.create().run('Go.')
    await vi.waitFor(() => { expect(app.asked).toHaveLength(1) })
    await vi.advanceTimersByTimeAsync(3000)
    expect(app.asked[0]!.verdict).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1000)
    expect(app.asked[0]!.verdict).toMatchObject({ allowed: false, by: 'ended' })
    await turn
    expect(app.ran).toEqual([])
    expect(readBy(app, 'main')[0]).toContain('timeout')
  })

  it('is settled when it is cancelled, at every depth, in the same tick, and the dialog with it', async () => {
    const app = await delegating(sevenAtOnce, { execute: 'ask' }, { subagents: { maxDepth: 4 } })
    app.ctx.approvals.attend({ asked: () => {} })
    const root = app.ctx.agents.create()
    const turn = root.run('Go.')
    await vi.waitFor(() => { expect(app.asked).toHaveLength(7) })
    root.abort(new Error('enough'), { scope: 'tree' })
    expect(app.ctx.approvals.list()).toEqual([])
    expect(app.settled.map(([, { by }]) => by)).toEqual(app.asked.map(() => 'ended'))
    await turn
    expect(app.ran).toEqual([])
  })

  it('is settled alone when it is cancelled alone: the others stay answerable', async () => {
    const app = await delegating(sevenAtOnce, { execute: 'ask' }, { subagents: { maxDepth: 4 } })
    app.ctx.approvals.attend({ asked: () => {} })
    const root = app.ctx.agents.create()
    const turn = root.runToQuiet('Go.')
    await vi.waitFor(() => { expect(app.asked).toHaveLength(7) })
    const cancelled = app.asked.find(({ request }) => request.summary === 'b1')!
    const disposed = cancelled.request.agent.dispose()
    expect(app.settled.map(([{ request }, { by }]) => [request.summary, by])).toEqual([['b1', 'ended'], ['b2', 'ended']])
    expect(app.ctx.approvals.list(root)).toHaveLength(5)
    for (const approval of app.ctx.approvals.list(root)) approval.allow()
    await disposed
    await turn
    expect(app.ran.sort()).toEqual(['act 0', 'act a1', 'act aa1', 'act aaa1', 'act ab1'])
  })
})

describe('with nobody to ask', () => {
  const why = 'Error: "act" needs an approval, and nobody is here to give it (approvals: execute; "allow" there lets it run, and on a terminal it is asked for)'

  it('each child reads why it may not, at every depth, in front and in the background; nothing hangs', async () => {
    const app = await delegating(sevenAtOnce, { execute: 'ask' }, { subagents: { maxDepth: 4 } })
    expect((await app.ctx.agents.create().runToQuiet('Go.')).stopReason).toBe('completed')
    expect([app.ran, app.asked, app.settled]).toEqual([[], [], []])
    expect(readBy(app, 'b')).toEqual([why, why])
    expect(readBy(app, 'ab')).toEqual([why])
    expect(readBy(app, 'aaa')).toEqual([why])
    expect(readBy(app, 'aa')).toEqual([why, 'aaa is done'])
  })

  it('delegation, task tools and structured output still work, where all but reading asks', async () => {
    const outputSchema = { type: 'object', properties: { verdict: { type: 'string' } }, required: ['verdict'] }
    const app = await delegating({
      main: [child('a', { tool: 'judge' }), child('b', { inBackground: true }), { name: 'task_list', args: {} }],
      a: [{ name: 'structured_output', args: { verdict: 'clean' } }],
    }, { write: 'ask', execute: 'ask', undeclared: 'ask' }, {}, [{ provider: 'spawn', toolName: 'judge', outputSchema }])
    const turn = await app.ctx.agents.create().runToQuiet('Go.')
    expect(turn.stopReason).toBe('completed')
    const told = app.model.requests.filter(request => labelOf(request) === 'main').map(resultsOf).find(each => each.length > 0)
    expect(told).toEqual(['{"verdict":"clean"}', 'started background subagent task subagent-1', expect.stringContaining('subagent-1 (b): running')])
  })
})
