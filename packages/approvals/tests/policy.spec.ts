import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { results, startApp } from './support.ts'

describe('without a policy', () => {
  it('everything runs, and nobody is asked', async () => {
    const app = await startApp()
    expect(await results(app, 'look; write; act; mystery')).toEqual(['look ran', 'write ran', 'act ran', 'mystery ran'])
    expect(app.asked).toEqual([])
  })
})

describe('the policy of an effect', () => {
  it.each([['read', 'look'], ['write', 'write'], ['execute', 'act'], ['undeclared', 'mystery']] as const)('%s allows, denies or asks for its tools, and for no others', async (key, tool) => {
    const others = ['look', 'write', 'act', 'mystery'].filter(name => name !== tool)
    const all = [tool, ...others].join('; ')
    // Alone: what is undeclared follows what executes.
    const ran = others.map(name => `${name} ran`)
    const policies = { undeclared: 'allow' as const }
    expect(await results(await startApp({ ...policies, [key]: 'allow' }), all)).toEqual([`${tool} ran`, ...ran])
    expect(await results(await startApp({ ...policies, [key]: 'deny' }), all)).toEqual([`Error: "${tool}" is not allowed here (approvals: ${key} is "deny")`, ...ran])
    const asking = await startApp({ ...policies, [key]: 'ask' })
    asking.ctx.approvals.attend({ asked: approval => { approval.allow() } })
    expect(await results(asking, all)).toEqual([`${tool} ran`, ...ran])
    expect(asking.asked.map(({ request }) => request.tool)).toEqual([tool])
  })

  it('denies the tools that have it, says where, and none of them runs', async () => {
    const app = await startApp({ execute: 'deny' })
    expect(await results(app, 'look; write; act')).toEqual(['look ran', 'write ran', 'Error: "act" is not allowed here (approvals: execute is "deny")'])
    expect(app.ran).toEqual(['look', 'write'])
  })

  it('of those that execute is also that of tools which do not say what they do', async () => {
    const app = await startApp({ execute: 'deny' })
    expect(await results(app, 'mystery')).toEqual(['Error: "mystery" is not allowed here (approvals: execute is "deny")'])
    expect(app.ran).toEqual([])
  })

  it('of tools which do not say what they do can be another', async () => {
    const app = await startApp({ execute: 'deny', undeclared: 'allow' })
    expect(await results(app, 'mystery')).toEqual(['mystery ran'])
    const strict = await startApp({ undeclared: 'deny' })
    expect(await results(strict, 'mystery; act')).toEqual(['Error: "mystery" is not allowed here (approvals: undeclared is "deny")', 'act ran'])
  })

  it('gives way to that of a single tool', async () => {
    const app = await startApp({ execute: 'deny', read: 'allow', tools: { act: 'allow', look: 'deny' } })
    expect(await results(app, 'act; look')).toEqual(['act ran', 'Error: "look" is not allowed here (approvals: tools.look is "deny")'])
  })

  it('does not take what every object has for a policy of a tool', async () => {
    const app = await startApp({ execute: 'deny' })
    const named = defineTool({ name: 'constructor', description: 'Runs.', parameters: Type.Object({}), effect: 'execute', execute: () => 'ran' })
    expect(await results(app, 'constructor', app.ctx.agents.create({ tools: [named] }))).toEqual(['Error: "constructor" is not allowed here (approvals: execute is "deny")'])
  })

  it('holds for tools that are an agent\'s own', async () => {
    const app = await startApp({ execute: 'deny' })
    let executed = false
    const own = defineTool({ name: 'own', description: 'Runs.', parameters: Type.Object({}), effect: 'execute', execute: () => { executed = true; return 'ran' } })
    expect(await results(app, 'own', app.ctx.agents.create({ tools: [own] }))).toEqual(['Error: "own" is not allowed here (approvals: execute is "deny")'])
    expect(executed).toBe(false)
  })

  it('comes after the check of the arguments', async () => {
    const app = await startApp({ execute: 'deny' }, ({ prompt }) => prompt.at(-1)?.role === 'user' ? { calls: [{ name: 'act', args: { what: 1 } }] } : 'ok')
    expect((await results(app, ''))[0]).toMatch(/^Error: invalid arguments for "act"/)
  })

  it('is for agents: code that runs a tool without one is not judged', async () => {
    const app = await startApp({ execute: 'deny' })
    expect(await app.ctx.tools.view().execute('act', {}, { callId: 'by code' })).toEqual({ content: [{ type: 'text', text: 'act ran' }], isError: false })
  })

  it('does not outlive its plugin', async () => {
    const app = await startApp({ execute: 'deny' })
    const { tools } = app.ctx
    const [fiber] = [...app.ctx.registry.values()].flatMap(plugin => [...plugin.fibers]).filter(({ name }) => name === 'ApprovalService')
    await fiber!.dispose()
    expect(tools.core.gate).toBeUndefined()
    expect(await results(app, 'act')).toEqual(['act ran'])
  })
})

describe('delegation and background tasks', () => {
  it('need no approval themselves: what children do is judged in the children', async () => {
    const app = await startApp({ read: 'allow', write: 'deny', execute: 'deny' })
    const declared = [...app.ctx.tools.core.tools.values()].filter(({ name }) => name.startsWith('task_'))
    expect(declared.map(({ effect }) => effect)).toEqual(['read', 'read', 'read'])
  })
})

describe('judge()', () => {
  it('answers at once where nobody has to be asked, and puts the rest before people', async () => {
    const app = await startApp({ write: 'deny', execute: 'ask' })
    const { approvals } = app.ctx
    const agent = app.ctx.agents.create()
    const judged = (effect: 'read' | 'write' | 'execute') => approvals.judge({ agent, tool: 'it', effect, summary: '' })
    expect(judged('read')).toEqual({ allowed: true, by: 'policy' })
    expect(judged('write')).toMatchObject({ allowed: false, by: 'policy' })
    expect(judged('execute')).toMatchObject({ allowed: false, by: 'nobody' })
    approvals.attend({ asked: approval => { approval.allow() } })
    expect(judged('execute')).toBeInstanceOf(Promise)
    expect(await judged('execute')).toEqual({ allowed: true, by: 'answer' })
    expect(app.asked).toHaveLength(2)
  })
})
