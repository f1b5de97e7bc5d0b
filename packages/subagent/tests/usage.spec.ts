import type { ModelRequest } from '@offshoot/model'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import type { SubagentResult } from '../src/index.ts'
import { pluginFor, SmallProvider } from './small-provider.ts'
import { type App, ended, gate, idleRun, never, provider, startApp } from './support.ts'

const promptOf = ({ prompt }: ModelRequest): string => JSON.stringify(prompt[1])

/** An app whose agents hand what their task names to children, and wait for them. */
async function app(reply: Parameters<typeof startApp>[1]): Promise<App> {
  const made = await startApp({}, reply)
  const { ctx } = made
  await ctx.plugin(pluginFor(agents => new SmallProvider(agents)))
  ctx.tools.register(defineTool({
    name: 'delegate', description: 'Delegates.', parameters: Type.Object({ task: Type.String() }), concurrency: 'parallel',
    async execute({ task }, { agent, callId, signal }) {
      await using run = await ctx.subagents.start('small', { prompt: task, parent: agent!, signal: signal!, tool: { name: 'delegate', callId } })
      return (await run.result).stopReason
    },
  }))
  return made
}

describe('what a child and all below it used', () => {
  it('is in its result and its end event: the failed counted too, each once, and the root\'s sum is the endpoint\'s', async () => {
    let given = 0
    const { ctx, parent } = await app(request => {
      given++
      const usage = { input: 10, output: 1 }
      const task = promptOf(request)
      if (request.prompt.length > 2) return { text: 'Done.', usage }
      if (task.includes('level 1')) return { calls: [{ name: 'delegate', args: { task: 'level 2 well' } }, { name: 'delegate', args: { task: 'level 2 cut' } }], usage }
      if (task.includes('cut')) return { text: 'Half', finish: 'length', usage }
      if (task.includes('well')) return { text: 'Well.', usage }
      return { calls: [{ name: 'delegate', args: { task: 'level 1 a' } }, { name: 'delegate', args: { task: 'level 1 b' } }], usage }
    })
    const ends: SubagentResult[] = []
    ctx.on('subagent/end', (_info, result) => { ends.push(result) })
    expect((await parent.run('Go.')).stopReason).toBe('completed')
    expect(ends.map(({ stopReason, usage, totalUsage }) => [stopReason, usage.inputTokens, totalUsage!.inputTokens])).toEqual([
      ['completed', 10, 10], ['max-tokens', 10, 10], ['completed', 10, 10], ['max-tokens', 10, 10], ['completed', 20, 40], ['completed', 20, 40],
    ])
    const { own, total } = ctx.subagents.usage(parent)
    expect(own).toMatchObject({ inputTokens: 20, outputTokens: 2, steps: 2 })
    expect(total).toMatchObject({ inputTokens: 10 * given, outputTokens: given, steps: given, toolCalls: 6 })
    expect(total).not.toHaveProperty('unreportedSteps')
    expect(total.durationMs).toBe(own.durationMs)
  })

  it('says how many requests nobody knows the tokens of: broken off, or not reported', async () => {
    const { ctx, parent, start } = await app((_request, index) => index === 0 ? { text: 'One.', usage: { input: 5, output: 5 } } : index === 1 ? 'Two, unreported.' : { hold: never })
    for (let i = 0; i < 2; i++) await using(await start('small'))
    const cancel = new AbortController()
    const run = await start('small', { signal: cancel.signal })
    await new Promise(resolve => { setImmediate(resolve) })
    cancel.abort()
    expect(await run.result).toMatchObject({ stopReason: 'aborted', usage: { steps: 1, unreportedSteps: 1 } })
    await run.dispose()
    expect(ctx.subagents.usage(parent).total).toMatchObject({ inputTokens: 5, outputTokens: 5, steps: 3, unreportedSteps: 2 })
  })

  it('counts a grandchild that ends after its parent for those above it that still live', async () => {
    const { ctx, parent, start } = await startApp()
    const results = [gate<SubagentResult>(), gate<SubagentResult>()] as const
    ctx.subagents.registerProvider(provider('one', ({ parent: starter, depth }) => idleRun({ agent: ctx.agents.create({ parent: starter }), result: results[depth - 1]!.opened })))
    const child = await start('one')
    const grandchild = await start('one', { parent: child.agent! })
    const used = { steps: 1, toolCalls: 0, durationMs: 1, inputTokens: 7, outputTokens: 1 }
    results[0].open({ ...ended('completed', 'x'), usage: used })
    expect((await child.result).totalUsage).toMatchObject({ inputTokens: 7 })
    results[1].open({ ...ended('completed', 'y'), usage: used })
    await grandchild.result
    expect(ctx.subagents.usage(parent).total).toMatchObject({ inputTokens: 14, outputTokens: 2, steps: 2 })
  })

  it('is in the tree while it runs', async () => {
    const waiting = gate()
    const { ctx, parent } = await app(request => {
      const task = promptOf(request)
      const usage = { input: 10, output: 1 }
      if (task.includes('level 2')) { waiting.open(); return { hold: never } }
      return { calls: [{ name: 'delegate', args: { task: task.includes('level 1') ? 'level 2' : 'level 1' } }], usage }
    })
    const turn = parent.run('Go.')
    await waiting.opened
    expect(ctx.subagents.tree(parent)).toMatchObject([{ usage: { inputTokens: 10 }, totalUsage: { inputTokens: 10 }, children: [{ usage: { steps: 0 } }] }])
    expect(ctx.subagents.usage(parent).total).toMatchObject({ inputTokens: 20 })
    parent.abort()
    await turn
  })
})

async function using(run: { result: Promise<unknown>, dispose(): Promise<void> }): Promise<void> {
  await run.result
  await run.dispose()
}
