import { describe, expect, it, vi } from 'vitest'
import { act, child, delegating } from './delegating.ts'
import { results, startApp } from './support.ts'

const quiet = { asked: () => {} }

describe('what was allowed always', () => {
  it('goes for what waits of the same tool in that tree, and for its later calls, and for nothing else', async () => {
    const app = await startApp({ write: 'ask', execute: 'ask' })
    app.ctx.approvals.attend(quiet)
    const [agent, other] = [app.ctx.agents.create(), app.ctx.agents.create()]
    const turns = [agent.run('act one; act two; write three'), other.run('act of another tree')]
    await vi.waitFor(() => { expect(app.asked).toHaveLength(4) })
    app.asked.find(({ request }) => request.summary === 'one')!.allow({ always: true })
    expect(app.settled.map(([{ request: { summary } }, { by }]) => [summary, by])).toEqual([['one', 'answer'], ['two', 'earlier-answer']])
    for (const approval of app.ctx.approvals.list()) approval.deny()
    await Promise.all(turns)
    expect(await results(app, 'act four', agent)).toEqual(['act ran'])
    expect(app.asked).toHaveLength(4)
    void other.run('act again')
    await vi.waitFor(() => { expect(app.asked).toHaveLength(5) })
    app.asked[4]!.deny()
  })

  it('adds to what was before', async () => {
    const app = await startApp({ write: 'ask', execute: 'ask' })
    const leave = app.ctx.approvals.attend({ asked: approval => { approval.allow({ always: true }) } })
    const agent = app.ctx.agents.create()
    expect(await results(app, 'act; write', agent)).toEqual(['act ran', 'write ran'])
    leave()
    expect(await results(app, 'act; write', agent)).toEqual(['act ran', 'write ran'])
    expect(app.asked).toHaveLength(2)
  })

  it('after it was denied is no answer any more', async () => {
    const app = await startApp({ execute: 'ask' })
    app.ctx.approvals.attend({ asked: approval => {
      approval.deny()
      approval.allow({ always: true })
    } })
    const agent = app.ctx.agents.create()
    const denied = ['Error: the user did not allow this call of "act"']
    expect(await results(app, 'act', agent)).toEqual(denied)
    expect(await results(app, 'act', agent)).toEqual(denied)
    expect(app.asked).toHaveLength(2)
  })

  it('does not go for another tool', async () => {
    const app = await startApp({ execute: 'ask' })
    app.ctx.approvals.attend({ asked: approval => { approval.allow({ always: true }) } })
    const agent = app.ctx.agents.create()
    expect(await results(app, 'act; mystery', agent)).toEqual(['act ran', 'mystery ran'])
    expect(app.asked.map(({ request }) => request.tool)).toEqual(['act', 'mystery'])
  })

  it('by one agent of a tree goes for all of it, and for what waits already', async () => {
    const app = await delegating({ main: [act('0'), child('a')], a: [act('a1')] })
    app.ctx.approvals.attend({ asked: () => {} })
    const turn = app.ctx.agents.create().run('Go.')
    await vi.waitFor(() => { expect(app.asked).toHaveLength(2) })
    app.asked[1]!.allow({ always: true })
    expect(app.asked[0]!.verdict).toEqual({ allowed: true, by: 'earlier-answer' })
    await turn
    expect(app.ran.sort()).toEqual(['act 0', 'act a1'])
  })
})
