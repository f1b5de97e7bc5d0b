import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Agent } from '../src/index.ts'
import { gate, never, start, tool } from './support.ts'

describe('an abort follows the tree of agents', () => {
  it('to the children whose turns run under the parent\'s signal, and theirs, with no listener on it', async () => {
    const { ctx } = await start(request => (request.providerOptions!['offshoot'] as { label: string }).label === 'leaf' ? { hold: never } : { calls: [{ name: 'descend' }] })
    const leaf = gate()
    const turns: Promise<unknown>[] = []
    const signals: AbortSignal[] = []
    ctx.tools.register(tool('descend', {
      execute: async (_args, { agent, signal }) => {
        signals.push(signal!)
        const child = ctx.agents.create({ parent: agent!, label: agent!.depth === 1 ? 'leaf' : 'middle' })
        if (child.label === 'leaf') child.on(({ type }) => { if (type === 'step-start') leaf.open() })
        const turn = child.run('Go.', { signal })
        turns.push(turn.then(({ stopReason }) => `${child.label} ${stopReason}`))
        await turn
        await child.dispose()
        return 'back'
      },
    }))
    const root = ctx.agents.create()
    const turn = root.run('Go.')
    await leaf.opened
    expect(signals).toHaveLength(2)
    for (const signal of signals) expect(getEventListeners(signal, 'abort')).toEqual([])
    root.abort(new Error('enough'))
    expect(await Promise.all([turn.then(({ stopReason }) => stopReason), ...turns])).toEqual(['aborted', 'middle aborted', 'leaf aborted'])
    expect(ctx.agents.list()).toEqual([root])
  })

  it('and not to a child under another signal', async () => {
    const { ctx } = await start(() => ({ hold: never }))
    const parent = ctx.agents.create()
    const child = ctx.agents.create({ parent })
    const controller = new AbortController()
    const parentTurn = parent.run('Go.')
    const childTurn = child.run('Go.', { signal: controller.signal })
    parent.abort()
    await parentTurn
    expect(child.state).toBe('running')
    controller.abort()
    expect((await childTurn).stopReason).toBe('aborted')
  })

  it('and not to a child that runs on from an earlier turn: that one is over', async () => {
    const { ctx } = await start([{ calls: [{ name: 'leave' }] }, { hold: never }, 'first turn done', { hold: never }])
    const left: { child?: Agent, turn?: Promise<unknown> } = {}
    ctx.tools.register(tool('leave', {
      execute: (_args, { agent, signal }) => {
        left.child = ctx.agents.create({ parent: agent! })
        left.turn = left.child.run('Go.', { signal })
        return 'left alone'
      },
    }))
    const parent = ctx.agents.create()
    expect((await parent.run('Go.')).stopReason).toBe('completed')
    const second = parent.run('Go on.')
    parent.abort()
    await second
    expect(left.child!.state).toBe('running')
    await parent.dispose()
    expect(await left.turn).toMatchObject({ stopReason: 'aborted' })
  })

  it('to a thousand children', async () => {
    const { ctx } = await start(() => ({ hold: never }))
    const parent = ctx.agents.create()
    const turn = parent.run('Go.')
    const { turnSignal } = parent
    const turns = Array.from({ length: 1000 }, () => ctx.agents.create({ parent }).run('Go.', { signal: turnSignal }))
    expect(getEventListeners(turnSignal!, 'abort').length).toBeLessThan(2)
    parent.abort()
    expect(new Set((await Promise.all([turn, ...turns])).map(({ stopReason }) => stopReason))).toEqual(new Set(['aborted']))
  })
})

describe('a foreign signal', () => {
  it('carries one listener however many turns run under it, and none once they ended', async () => {
    const release = gate()
    const { ctx } = await start(() => ({ hold: release.opened, text: 'ok' }))
    const { signal } = new AbortController()
    const turns = Array.from({ length: 50 }, () => ctx.agents.create().run('Go.', { signal }))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    release.open()
    expect((await Promise.all(turns)).every(({ stopReason }) => stopReason === 'completed')).toBe(true)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('aborts all of them, with its reason', async () => {
    const { ctx } = await start(() => ({ hold: never }))
    const controller = new AbortController()
    const turns = Array.from({ length: 5 }, () => ctx.agents.create().run('Go.', { signal: controller.signal }))
    controller.abort(new Error('closing time'))
    expect((await Promise.all(turns)).map(({ diagnostic }) => diagnostic)).toEqual(Array(5).fill('closing time'))
  })
})
