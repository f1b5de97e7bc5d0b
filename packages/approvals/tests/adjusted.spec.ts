import { describe, expect, it } from 'vitest'
import type { Adjustment } from '../src/index.ts'
import { child, act, delegating, readBy } from './delegating.ts'
import { results, startApp } from './support.ts'

const readOnly: Adjustment = { name: 'mode "read-only"', adjust: (policy, effect) => effect === 'read' ? policy : 'deny' }
const trusting: Adjustment = { name: 'mode "trusting"', adjust: () => 'allow' }
const refused = 'Error: "act" is not allowed here (mode "read-only")'

describe('an adjustment', () => {
  it('denies in one tree what the config allows, and says who does; other trees, and the time after it, are as before', async () => {
    const app = await startApp({})
    const [one, other] = [app.ctx.agents.create(), app.ctx.agents.create()]
    const end = app.ctx.approvals.adjust(readOnly, one)
    expect(await results(app, 'act first', one)).toEqual([refused])
    expect(await results(app, 'act second', other)).toEqual(['act ran'])
    end()
    expect(await results(app, 'act third', one)).toEqual(['act ran'])
    expect(app.ran).toEqual(['act second', 'act third'])
  })

  it('holds for the children of its tree', async () => {
    const app = await delegating({ main: [child('a')], a: [act('a1')] }, {})
    const main = app.ctx.agents.create()
    app.ctx.approvals.adjust(readOnly, main)
    await main.run('Go.')
    expect(readBy(app, 'a')).toEqual([refused])
  })

  it('spares people a question, and allows nothing that the config denies', async () => {
    const app = await startApp({ execute: 'ask', tools: { other: 'deny' } })
    const agent = app.ctx.agents.create()
    app.ctx.approvals.adjust(trusting, agent)
    expect(await results(app, 'act', agent)).toEqual(['act ran'])
    expect(await app.ctx.approvals.ask({ agent, tool: 'codex execute', effect: 'execute', summary: '' })).toEqual({ allowed: true, by: 'policy' })
    expect(await app.ctx.approvals.ask({ agent, tool: 'other', effect: 'execute', summary: '' })).toMatchObject({ allowed: false, reason: expect.stringContaining('tools.other is "deny"') })
  })

  it('judges what waits anew, and gives way to the next one', async () => {
    const app = await startApp({ execute: 'ask' })
    app.ctx.approvals.attend({ asked: () => {} })
    const agent = app.ctx.agents.create()
    const request = { agent, tool: 'codex execute', effect: 'execute', summary: '' } as const
    const allowed = app.ctx.approvals.ask(request)
    const end = app.ctx.approvals.adjust(trusting, agent)
    expect(await allowed).toEqual({ allowed: true, by: 'policy' })
    end()
    const denied = app.ctx.approvals.ask(request)
    app.ctx.approvals.adjust(readOnly, agent)
    end()
    expect(await denied).toEqual({ allowed: false, by: 'policy', reason: '"codex execute" is not allowed here (mode "read-only")' })
    expect(app.ctx.approvals.list()).toEqual([])
  })
})
