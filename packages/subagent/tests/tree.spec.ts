import type { ModelRequest } from '@offshoot/model'
import { textOf } from '@offshoot/session'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { SubagentResult } from '../src/index.ts'
import { pluginFor, SmallProvider } from './small-provider.ts'
import { type App, ended, gate, idleRun, never, provider, startApp } from './support.ts'

const labelOf = (request: ModelRequest): string => (request.providerOptions!['offshoot'] as { label: string }).label

/** An app whose provider `small` runs children in this process. */
async function smallApp(...args: Parameters<typeof startApp>): Promise<App> {
  const app = await startApp(...args)
  await app.ctx.plugin(pluginFor(agents => new SmallProvider(agents)))
  return app
}

describe('tree()', () => {
  it('is empty where nothing runs', async () => {
    const { ctx, parent } = await startApp()
    expect([ctx.subagents.tree(), ctx.subagents.tree(parent)]).toEqual([[], []])
  })

  it('shows live runs under those that started them, with what each is doing', async () => {
    const { ctx, parent, start } = await smallApp({}, request => request.prompt.length > 2 ? { hold: never } : { calls: [{ name: 'wait' }], usage: { input: 7, output: 3 } })
    const waiting = gate()
    ctx.tools.register(defineTool({ name: 'wait', description: 'Waits.', parameters: Type.Object({}), execute: (_args, { signal }) => new Promise((_resolve, reject) => {
      waiting.open()
      signal!.addEventListener('abort', () => { reject(new Error('aborted')) })
    }) }))
    const child = await start('small', { label: 'child', tool: { name: 'research', callId: 'c1' } })
    await waiting.opened
    ctx.subagents.registerProvider(provider('remote'))
    const grandchild = await start('remote', { parent: child.agent!, label: 'grandchild' })
    const sibling = await start('remote')

    const node = { startedAt: expect.any(Number), state: 'running' }
    const below = [{ ...node, runId: grandchild.id, provider: 'remote', label: 'grandchild', parentSessionId: child.agent!.session.id, depth: 2, children: [] }]
    const usage = { steps: 1, toolCalls: 1, inputTokens: 7, outputTokens: 3, durationMs: expect.any(Number) }
    const children = [
      {
        ...node, runId: child.id, provider: 'small', label: 'child', tool: { name: 'research', callId: 'c1' }, parentSessionId: parent.session.id, sessionId: child.agent!.session.id, depth: 1,
        step: 1, waitsFor: 'tools', currentTool: 'wait', usage, totalUsage: usage, children: below,
      },
      { ...node, runId: sibling.id, provider: 'remote', parentSessionId: parent.session.id, depth: 1, children: [] },
    ]
    expect(ctx.subagents.tree()).toEqual(children)
    expect(ctx.subagents.tree(parent)).toEqual(children)
    expect(ctx.subagents.tree(child.agent)).toEqual(below)
    expect(ctx.subagents.tree(ctx.agents.create())).toEqual([])
  })

  it('shows the runs of every root agent', async () => {
    const { ctx, parent, start } = await startApp()
    ctx.subagents.registerProvider(provider('one'))
    const other = ctx.agents.create()
    await start('one')
    await start('one', { parent: other })
    expect(ctx.subagents.tree().map(({ parentSessionId }) => parentSessionId)).toEqual([parent.session.id, other.session.id])
  })

  it('shows a child under no other once the run that started it is gone', async () => {
    const { ctx, start } = await startApp()
    const result = gate<SubagentResult>()
    ctx.subagents.registerProvider(provider('one', ({ parent: starter, depth }) => idleRun({ agent: ctx.agents.create({ parent: starter }), result: depth === 1 ? result.opened : never })))
    const child = await start('one')
    const grandchild = await start('one', { parent: child.agent! })
    expect(ctx.subagents.tree()).toMatchObject([{ runId: child.id, children: [{ runId: grandchild.id }] }])
    result.open(ended('completed', 'x'))
    await child.result
    expect(ctx.subagents.tree()).toMatchObject([{ runId: grandchild.id, children: [] }])
  })

  it('shows a run until it has ended, and again as settling while it is disposed', async () => {
    const { ctx, start } = await startApp()
    const result = gate<SubagentResult>()
    const quiet = gate()
    ctx.subagents.registerProvider(provider('one', () => idleRun({ result: result.opened, dispose: () => quiet.opened })))
    const run = await start('one')
    const states = (): string[] => ctx.subagents.tree().map(({ state }) => state)
    expect(states()).toEqual(['running'])
    result.open(ended('completed', 'x'))
    await run.result
    expect(states()).toEqual([])
    const disposing = run.dispose()
    expect(states()).toEqual(['settling'])
    quiet.open()
    await disposing
    expect(states()).toEqual([])
  })

  it('is what observers see at that moment: the run is in it at its start, and no more at its end', async () => {
    const { ctx, start } = await startApp()
    const seen: string[][] = []
    const look = (): void => { seen.push(ctx.subagents.tree().map(({ runId }) => runId)) }
    ctx.on('subagent/start', look)
    ctx.on('subagent/end', look)
    ctx.subagents.registerProvider(provider('one', () => idleRun({ result: Promise.resolve(ended('completed', 'x')) })))
    await (await start('one')).result
    expect(seen).toEqual([['run-1'], []])
  })
})

describe('when the app goes', () => {
  it('every live run is disposed and settles, and no agent is left', async () => {
    const { ctx, start } = await smallApp({}, () => ({ hold: never }))
    const runs = [await start('small')]
    runs.push(await start('small', { parent: runs[0]!.agent! }))
    const { core } = ctx.agents
    const results = Promise.all(runs.map(({ result }) => result))
    await ctx.fiber.dispose()
    expect((await results).map(({ stopReason }) => stopReason)).toEqual(['aborted', 'aborted'])
    expect(core.list()).toEqual([])
  })

  it('a run that cannot be disposed does not keep the others from it', async () => {
    const { ctx, start } = await startApp()
    const disposed: string[] = []
    ctx.subagents.registerProvider(provider('one', ({ runId }) => idleRun({
      dispose: async () => {
        disposed.push(runId)
        if (runId === 'run-1') throw new Error('stuck')
      },
    })))
    const runs = [await start('one'), await start('one')]
    await ctx.fiber.dispose()
    expect(disposed).toEqual(['run-1', 'run-2'])
    expect((await Promise.all(runs.map(({ result }) => result))).map(({ stopReason }) => stopReason)).toEqual(['aborted', 'aborted'])
  })
})

it('a thousand children at once keep their answers apart, tell of themselves once each, and leave nothing', async () => {
  const limits = { concurrentPerTree: 1000, concurrent: 1000, startsPerTree: 1000 }
  const { ctx, events, model, parent, start } = await smallApp({ limits }, request => `I am ${labelOf(request)}`)
  const { signal } = new AbortController()
  // The small provider's children are all called "main", so that what tells them apart is the prompt.
  const prompts = Array.from({ length: 1000 }, (_, i) => `child ${i}`)
  const runs = await Promise.all(prompts.map(prompt => start('small', { prompt, signal })))
  expect(ctx.subagents.tree()).toHaveLength(1000)
  expect(new Set(runs.map(({ id }) => id)).size).toBe(1000)
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  const results = await Promise.all(runs.map(({ result }) => result))
  expect(results.every(({ stopReason, output }) => stopReason === 'completed' && textOf(output) === 'I am main')).toBe(true)
  runs.forEach(({ agent }, i) => { expect(agent!.session.entries()[0]!.message.content).toEqual([{ type: 'text', text: prompts[i] }]) })
  await Promise.all(runs.map(run => run.dispose()))
  expect(model.requests).toHaveLength(1000)
  expect(new Set(events).size).toBe(2001)
  expect(events).toHaveLength(2001)
  expect(ctx.agents.list()).toEqual([parent])
  expect(ctx.subagents.tree()).toEqual([])
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
