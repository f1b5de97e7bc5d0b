import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { act, child, delegating, readBy } from './delegating.ts'
import { results, startApp } from './support.ts'

const refused = 'Error: "act" is not allowed here (approvals: tools.act is "deny")'

describe('a denied tool is refused at its execution', () => {
  it.each([
    ['that is spawned', { provider: 'spawn' }],
    ['that is forked', { provider: 'fork' }],
    ['whose filter allows it', { provider: 'spawn', toolFilter: { allow: ['act'] } }],
  ])('to a child %s', async (_, tool) => {
    const app = await delegating({ main: [child('a', { tool: 'other' })], a: [act('a1')] }, { tools: { act: 'deny' } }, {}, [{ ...tool, toolName: 'other' }])
    await app.ctx.agents.create().run('Go.')
    expect(readBy(app, 'a')).toEqual([refused])
    expect(app.ran).toEqual([])
  })

  it('to a child in the background', async () => {
    const app = await delegating({ main: [child('a', { inBackground: true })], a: [act('a1')] }, { tools: { act: 'deny' } })
    await app.ctx.agents.create().runToQuiet('Go.')
    expect(readBy(app, 'a')).toEqual([refused])
    expect(app.ran).toEqual([])
  })

  it('to an agent that has a tool of its own by that name', async () => {
    const app = await startApp({ tools: { act: 'deny' } })
    const own = defineTool({ name: 'act', description: 'Runs.', parameters: Type.Object({}), effect: 'read', execute: () => { app.ran.push('own'); return 'ran' } })
    expect(await results(app, 'act', app.ctx.agents.create({ tools: [own] }))).toEqual([refused])
    expect(app.ran).toEqual([])
  })

  it('to a model that calls it although it is not shown', async () => {
    const app = await startApp({ tools: { act: 'deny' } })
    const [result] = await results(app, 'act', app.ctx.agents.create({ toolFilter: { deny: ['act'] } }))
    expect(result).toMatch(/^Error: unknown tool "act"/)
    expect(app.ran).toEqual([])
  })

  it('to another agent that goes on with a conversation in which it ran', async () => {
    const app = await startApp({ tools: { act: 'ask' } })
    const leave = app.ctx.approvals.attend({ asked: approval => { approval.allow({ always: true }) } })
    const first = app.ctx.agents.create()
    expect(await results(app, 'act', first)).toEqual(['act ran'])
    leave()
    expect(await results(app, 'act again', first)).toEqual(['act ran'])
    await first.dispose()
    const next = app.ctx.agents.create({ session: first.session })
    expect((await results(app, 'act once more', next))[0]).toContain('nobody is here to give it')
    expect(app.ran).toEqual(['act', 'act again'])
  })

  it('although people would allow it: nobody is asked', async () => {
    const app = await startApp({ tools: { act: 'deny' } })
    app.ctx.approvals.attend({ asked: approval => { approval.allow() } })
    expect(await results(app, 'act')).toEqual([refused])
    expect(app.asked).toEqual([])
  })
})
