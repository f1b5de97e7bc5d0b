import { describe, expect, it } from 'vitest'
import { SubagentError, type SubagentProvider } from '../src/index.ts'
import { pluginFor } from './small-provider.ts'
import { provider, startApp, unable } from './support.ts'

describe('registerProvider()', () => {
  it('offers a provider by its name, and tells', async () => {
    const { ctx, events } = await startApp()
    const one = provider('one')
    ctx.subagents.registerProvider(one)
    expect(ctx.subagents.getProvider('one')).toBe(one)
    expect(ctx.subagents.getProvider('other')).toBeUndefined()
    expect(events).toEqual(['added one'])
  })

  it('lists names, oldest first', async () => {
    const { ctx } = await startApp()
    for (const name of ['b', 'c', 'a']) ctx.subagents.registerProvider(provider(name))
    expect(ctx.subagents.list()).toEqual(['b', 'c', 'a'])
  })

  it('refuses a name that is taken, and leaves the first alone', async () => {
    const { ctx, events } = await startApp()
    const first = provider('one')
    ctx.subagents.registerProvider(first)
    expect(() => ctx.subagents.registerProvider(provider('one'))).toThrow(expect.objectContaining({
      name: 'SubagentError', code: 'DUPLICATE_PROVIDER', message: 'subagent provider "one" is already registered; give one of the two another name',
    }))
    expect(ctx.subagents.getProvider('one')).toBe(first)
    expect(events).toEqual(['added one'])
  })

  it('refuses a second plugin with a name that is taken: that plugin fails, the first goes on', async () => {
    const { ctx } = await startApp()
    await ctx.plugin(pluginFor(() => provider('one')))
    await expect(ctx.plugin(pluginFor(() => provider('one'))).await()).rejects.toMatchObject({ code: 'DUPLICATE_PROVIDER' })
    expect(ctx.subagents.list()).toEqual(['one'])
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no name', { capabilities: unable, start: () => {} }],
    ['a blank name', { name: ' ', capabilities: unable, start: () => {} }],
    ['no start', { name: 'x', capabilities: unable }],
    ['no capabilities', { name: 'x', start: () => {} }],
    ['null for capabilities', { name: 'x', start: () => {}, capabilities: null }],
  ])('refuses %s', async (_what, invalid) => {
    const { ctx } = await startApp()
    expect(() => ctx.subagents.registerProvider(invalid as SubagentProvider)).toThrow(SubagentError)
    expect(() => ctx.subagents.registerProvider(invalid as SubagentProvider)).toThrow(expect.objectContaining({ code: 'INVALID_PROVIDER' }))
    expect(ctx.subagents.list()).toEqual([])
  })

  it('lasts until the returned function is called, once or twice', async () => {
    const { ctx, events } = await startApp()
    const remove = ctx.subagents.registerProvider(provider('one'))
    await remove()
    expect([ctx.subagents.list(), ctx.subagents.getProvider('one')]).toEqual([[], undefined])
    await remove()
    const again = provider('one')
    ctx.subagents.registerProvider(again)
    await remove()
    expect(ctx.subagents.getProvider('one')).toBe(again)
    expect(events).toEqual(['added one', 'removed one', 'added one'])
  })

  it('lasts no longer than the plugin that called it', async () => {
    const { ctx, events } = await startApp()
    const plugin = ctx.plugin(pluginFor(() => provider('one')))
    await plugin
    expect(ctx.subagents.list()).toEqual(['one'])
    await plugin.dispose()
    expect(ctx.subagents.list()).toEqual([])
    expect(events).toEqual(['added one', 'removed one'])
  })

  it('is followed by the event only when the provider can be started, and preceded by it only when it cannot', async () => {
    const { ctx } = await startApp()
    const seen: unknown[] = []
    ctx.on('subagent/provider-added', each => { seen.push(ctx.subagents.getProvider(each.name) === each) })
    ctx.on('subagent/provider-removed', name => { seen.push(ctx.subagents.getProvider(name)) })
    await ctx.subagents.registerProvider(provider('one'))()
    expect(seen).toEqual([true, undefined])
  })

  it('is not undone by an observer that throws, which is logged, and later observers are still told', async () => {
    const { ctx, logged } = await startApp()
    const told: string[] = []
    const broken = new Error('observer')
    ctx.on('subagent/provider-added', () => { throw broken })
    ctx.on('subagent/provider-removed', () => { throw broken })
    ctx.on('subagent/provider-added', ({ name }) => { told.push(`+${name}`) })
    ctx.on('subagent/provider-removed', name => { told.push(`-${name}`) })
    const plugin = ctx.plugin(pluginFor(() => provider('one')))
    await plugin
    expect(ctx.subagents.list()).toEqual(['one'])
    await plugin.dispose()
    expect(ctx.subagents.list()).toEqual([])
    expect(told).toEqual(['+one', '-one'])
    expect(logged).toEqual([broken, broken])
  })
})
