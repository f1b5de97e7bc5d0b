import ProblemsService from '@offshoot/problems'
import * as runtime from '@offshoot/runtime'
import type { SubagentProvider } from '@offshoot/subagent'
import * as spawn from '@offshoot/subagent-spawn'
import { Context } from 'cordis'
import { describe, expect, it } from 'vitest'
import * as toolSubagent from '../src/index.ts'
import { settled, taskTools } from './support.ts'

async function bareApp(): Promise<Context> {
  const ctx = new Context()
  await ctx.plugin(ProblemsService, { locate: each => places.get(each.fiber.config as object) })
  await ctx.plugin(runtime, {})
  await settled(ctx)
  return ctx
}

function delegationTools(ctx: Context): string[] {
  return ctx.tools.list().filter(name => !taskTools.includes(name))
}

/** Where the "file" has an entry, by its config object. */
const places = new WeakMap<object, string>()

const provider: SubagentProvider = {
  name: 'helper', inheritsParentContext: false,
  capabilities: { outputSchema: false, depthLimit: false, toolFilter: false, persona: false },
  start: () => Promise.reject(new Error('not started here')),
}

describe('the tool exists exactly while its provider does', () => {
  it('when the provider comes first', async () => {
    const ctx = await bareApp()
    ctx.plugin(spawn, { name: 'helper' })
    await settled(ctx)
    ctx.plugin(toolSubagent, { provider: 'helper' })
    await settled(ctx)
    expect(delegationTools(ctx)).toEqual(['subagent'])
    await ctx.fiber.dispose()
  })

  it('when the tool comes first', async () => {
    const ctx = await bareApp()
    ctx.plugin(toolSubagent, { provider: 'helper' })
    await settled(ctx)
    expect(delegationTools(ctx)).toEqual([])
    ctx.plugin(spawn, { name: 'helper' })
    await settled(ctx)
    expect(delegationTools(ctx)).toEqual(['subagent'])
    await ctx.fiber.dispose()
  })

  it('when everything loads at once, in any order', async () => {
    const parts = [
      (ctx: Context) => ctx.plugin(runtime, {}),
      (ctx: Context) => ctx.plugin(spawn, { name: 'helper' }),
      (ctx: Context) => ctx.plugin(toolSubagent, { provider: 'helper', toolName: 'one' }),
      (ctx: Context) => ctx.plugin(toolSubagent, { provider: 'spawn', toolName: 'two' }),
    ]
    for (const order of permutations(parts)) {
      const ctx = new Context()
      for (const load of order) void load(ctx)
      await settled(ctx)
      expect(delegationTools(ctx)).toEqual(['one', 'two'])
      await ctx.fiber.dispose()
    }
  })

  it('through reloads of the provider, and of the tool', async () => {
    const ctx = await bareApp()
    const helper = ctx.plugin(spawn, { name: 'helper' })
    const tool = ctx.plugin(toolSubagent, { provider: 'helper' })
    await settled(ctx)
    for (let i = 0; i < 3; i++) {
      await helper.restart()
      await settled(ctx)
      expect(delegationTools(ctx)).toEqual(['subagent'])
      await tool.restart()
      await settled(ctx)
      expect(delegationTools(ctx)).toEqual(['subagent'])
    }
    await helper.dispose()
    expect(delegationTools(ctx)).toEqual([])
    ctx.subagents.registerProvider(provider)
    expect(delegationTools(ctx)).toEqual(['subagent'])
    await tool.dispose()
    expect(delegationTools(ctx)).toEqual([])
    await ctx.fiber.dispose()
  })

  it('with two tools on one provider', async () => {
    const ctx = await bareApp()
    ctx.plugin(toolSubagent, { provider: 'helper', toolName: 'research' })
    ctx.plugin(toolSubagent, { provider: 'helper', toolName: 'review' })
    await settled(ctx)
    const remove = ctx.subagents.registerProvider(provider)
    expect(delegationTools(ctx)).toEqual(['research', 'review'])
    await remove()
    expect(delegationTools(ctx)).toEqual([])
    await ctx.fiber.dispose()
  })
})

describe('a second instance with the same toolName', () => {
  it('is refused at its load, naming the first, and the provider is untouched', async () => {
    const ctx = await bareApp()
    const [first, second] = [{ provider: 'helper', toolName: 'research' }, { provider: 'spawn', toolName: 'research' }]
    ctx.plugin(toolSubagent, first)
    await settled(ctx)
    places.set([...ctx.registry.get(toolSubagent as never)!.fibers][0]!.config as object, 'cordis.yml:4:3')
    const refused = ctx.plugin(toolSubagent, second)
    await expect(refused.await()).rejects.toMatchObject({
      code: 'DUPLICATE_TOOL',
      message: 'tool name "research" is already taken by tool-subagent (cordis.yml:4:3); give one of the two another name',
    })
    expect(delegationTools(ctx)).toEqual([])
    expect(ctx.subagents.list()).toEqual(['spawn', 'fork'])
    ctx.subagents.registerProvider(provider)
    expect(delegationTools(ctx)).toEqual(['research'])
    expect(ctx.subagents.list()).toEqual(['spawn', 'fork', 'helper'])
    await ctx.fiber.dispose()
  })

  it('is accepted once the first is gone', async () => {
    const ctx = await bareApp()
    const first = ctx.plugin(toolSubagent, { provider: 'spawn' })
    await settled(ctx)
    await first.dispose()
    await ctx.plugin(toolSubagent, { provider: 'spawn' })
    expect(delegationTools(ctx)).toEqual(['subagent'])
    await ctx.fiber.dispose()
  })
})

describe('what cannot work is said', () => {
  const problems = (ctx: Context) => ctx.problems.list().map(({ message }) => message)

  it('a provider that nobody registers, with the nearest name', async () => {
    const ctx = await bareApp()
    await ctx.plugin(toolSubagent, { provider: 'spwan' })
    expect(problems(ctx)).toEqual(['tool "subagent" waits for subagent provider "spwan", which nobody registers; did you mean "spawn"? (registered: fork, spawn)'])
    await ctx.fiber.dispose()
  })

  it.each([
    ['persona', { persona: 'You are terse.' }, 'persona'],
    ['toolFilter', { toolFilter: { allow: [] } }, 'toolFilter'],
    ['maxDepth', { maxDepth: 1 }, 'depthLimit'],
  ])('a %s that the provider cannot honour: the tool does not mount, until a provider can', async (field, config, capability) => {
    const ctx = await bareApp()
    const remove = ctx.subagents.registerProvider(provider)
    await ctx.plugin(toolSubagent, { provider: 'helper', ...config })
    expect(delegationTools(ctx)).toEqual([])
    expect(problems(ctx)).toEqual([`subagent provider "helper" does not support ${field} (capability ${capability}; it has: none); leave ${field} out or use another provider`])
    await remove()
    await ctx.plugin(spawn, { name: 'helper' })
    expect(delegationTools(ctx)).toEqual(['subagent'])
    expect(problems(ctx)).toEqual([])
    await ctx.fiber.dispose()
  })

  it('a filter with neither key is refused at load', async () => {
    const ctx = await bareApp()
    await expect(ctx.plugin(toolSubagent, { provider: 'spawn', toolFilter: {} }).await()).rejects.toMatchObject({ code: 'EMPTY_FILTER' })
    expect(delegationTools(ctx)).toEqual([])
    await ctx.fiber.dispose()
  })

  it('a filter that names a tool nobody offers, with the nearest; a tool that waits for its provider is offered', async () => {
    const ctx = await bareApp()
    ctx.plugin(toolSubagent, { provider: 'late', toolName: 'review' })
    ctx.plugin(toolSubagent, { provider: 'spawn', toolFilter: { allow: ['review'], deny: ['reviews'] } })
    await settled(ctx)
    expect(problems(ctx)).toContain(`toolFilter names a tool that nobody offers: "reviews"; did you mean "review"? (tools: review, subagent, ${taskTools.join(', ')})`)
    await ctx.fiber.dispose()
  })
})

it('keeps an absent filter absent: schemastery\'s own empty lists would hide every tool', () => {
  expect(toolSubagent.Config({ provider: 'spawn' })).toEqual({ provider: 'spawn', toolName: 'subagent', enableRunInBackground: true, concurrency: 'exclusive', partialOutput: 'none', isolation: 'none' })
  expect(toolSubagent.Config({ provider: 'spawn', toolFilter: { deny: ['x'] } }).toolFilter).toEqual({ deny: ['x'] })
  expect(toolSubagent.Config({ provider: 'spawn', toolFilter: { allow: [] } }).toolFilter).toEqual({ allow: [] })
})

it('has no default export, which would hide `inject` and `Config` from a loader', () => {
  expect(toolSubagent).not.toHaveProperty('default')
})

function permutations<T>(items: T[]): T[][] {
  if (items.length < 2) return [items]
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map(rest => [item, ...rest]))
}
