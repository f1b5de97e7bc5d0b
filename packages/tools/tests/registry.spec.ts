import ProblemsService from '@offshoot/problems'
import ToolService, { defineTool, ToolError } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { Context } from 'cordis'
import { describe, expect, it } from 'vitest'

function tool(name: string, text = name) {
  return defineTool({ name, description: name, parameters: Type.Object({}), execute: () => text })
}

async function app() {
  const ctx = new Context()
  await ctx.plugin(ToolService)
  return ctx
}

/** A plugin that runs `body`, under a name of its own. */
function plugin(name: string, body: (ctx: Context) => void) {
  return { name, inject: ['tools'], apply: body }
}

const offers = (name: string, ...tools: string[]) => plugin(name, ctx => { for (const each of tools) ctx.tools.register(tool(each)) })

describe('register', () => {
  it('offers a tool for as long as the plugin lives', async () => {
    const ctx = await app()
    const fiber = await ctx.plugin(offers('one', 'b', 'a'))
    expect(ctx.tools.list()).toEqual(['a', 'b'])
    expect(ctx.tools.view().names()).toEqual(['a', 'b'])
    await fiber.dispose()
    expect(ctx.tools.list()).toEqual([])
    expect(ctx.tools.view().names()).toEqual([])
  })

  it('returns the disposer for withdrawing it sooner', async () => {
    const ctx = await app()
    const withdraw = ctx.tools.register(tool('a'))
    withdraw()
    expect(ctx.tools.list()).toEqual([])
    ctx.tools.register(tool('a'))
    expect(ctx.tools.list()).toEqual(['a'])
  })

  it('refuses a name that another plugin has, and names that plugin', async () => {
    const ctx = await app()
    await ctx.plugin(offers('first', 'a'))
    await expect(ctx.plugin(offers('second', 'a')).await()).rejects.toThrow(
      new ToolError('DUPLICATE_TOOL', 'tool name "a" is already taken by first; give one of the two another name'))
    expect(await ctx.tools.view().execute('a', {}, { callId: 'c1' })).toMatchObject({ isError: false })
  })

  it('refuses a second tool of its own under the same name', async () => {
    const ctx = await app()
    await expect(ctx.plugin(offers('twice', 'a', 'a')).await()).rejects.toThrow(expect.objectContaining({ code: 'DUPLICATE_TOOL' }))
    expect(ctx.tools.list()).toEqual([])
  })

  it('names the place in the config of the plugin that has the name, where one is known', async () => {
    const ctx = new Context()
    await ctx.plugin(ProblemsService, { locate: (at: Context) => at.fiber.name === 'first' ? 'cordis.yml:3:3' : undefined })
    await ctx.plugin(ToolService)
    await ctx.plugin(offers('first', 'a'))
    await expect(ctx.plugin(offers('second', 'a')).await()).rejects.toThrow('already taken by first (cordis.yml:3:3)')
  })

  it('frees the name when its plugin goes', async () => {
    const ctx = await app()
    const fiber = await ctx.plugin(offers('first', 'a'))
    await fiber.dispose()
    await ctx.plugin(offers('second', 'a'))
    expect(ctx.tools.list()).toEqual(['a'])
  })
})

describe('reserve', () => {
  const reserves = (name: string, reserved: string) => plugin(name, ctx => { ctx.tools.reserve(reserved, ctx) })

  it('tells two plugins that want one name apart before either has a tool', async () => {
    const ctx = await app()
    await ctx.plugin(reserves('first', 'a'))
    await expect(ctx.plugin(reserves('second', 'a')).await()).rejects.toThrow('tool name "a" is already taken by first')
    await expect(ctx.plugin(offers('third', 'a')).await()).rejects.toThrow('tool name "a" is already taken by first')
    expect(ctx.tools.list()).toEqual([])
  })

  it('refuses a name under which a tool is registered', async () => {
    const ctx = await app()
    await ctx.plugin(offers('first', 'a'))
    await expect(ctx.plugin(reserves('second', 'a')).await()).rejects.toThrow('tool name "a" is already taken by first')
  })

  it('holds through the coming and going of the tool, and ends with its plugin', async () => {
    const ctx = await app()
    const fiber = await ctx.plugin(plugin('first', own => {
      own.tools.reserve('a', own)
      own.tools.register(tool('a'))()
    }))
    expect(ctx.tools.list()).toEqual([])
    await expect(ctx.plugin(offers('second', 'a')).await()).rejects.toThrow('already taken by first')
    await fiber.dispose()
    await ctx.plugin(offers('third', 'a'))
    expect(ctx.tools.list()).toEqual(['a'])
  })

  it('lets its plugin register under the name, and the plugins that this one loads, once', async () => {
    const ctx = await app()
    await ctx.plugin(plugin('first', own => {
      own.tools.reserve('a', own)
      own.tools.reserve('b', own)
      own.tools.register(tool('a'))
      own.plugin(plugin('middle', middle => { middle.plugin(offers('inner', 'b')) }))
    }))
    expect(ctx.tools.list()).toEqual(['a', 'b'])
    await expect(ctx.plugin(offers('second', 'b')).await()).rejects.toThrow('already taken by first')
  })

  it('does not bind the plugin beside it: a sibling is refused', async () => {
    const ctx = await app()
    let sibling: Promise<unknown> | undefined
    await ctx.plugin(plugin('parent', own => {
      own.plugin(reserves('first', 'a'))
      sibling = own.plugin(offers('second', 'a')).await()
    }))
    await expect(sibling).rejects.toThrow('already taken by first')
  })
})

describe('views of the registry', () => {
  it('are one object until something changes, for each filter', async () => {
    const ctx = await app()
    const filter = { deny: ['b'] }
    ctx.tools.register(tool('a'))
    const [all, some, { version }] = [ctx.tools.view(), ctx.tools.view(filter), ctx.tools.core]
    expect(ctx.tools.view()).toBe(all)
    expect(ctx.tools.view(filter)).toBe(some)
    expect(ctx.tools.core.version).toBe(version)
    ctx.tools.register(tool('b'))
    expect(ctx.tools.core.version).not.toBe(version)
    expect(ctx.tools.view().names()).toEqual(['a', 'b'])
    expect(ctx.tools.view(filter).names()).toEqual(['a'])
    expect(all.names()).toEqual(['a'])
  })
})

describe('unknownNames', () => {
  it('is silent for names that are registered or reserved', async () => {
    const ctx = await app()
    ctx.tools.register(tool('read_file'))
    await ctx.plugin(plugin('later', own => { own.tools.reserve('research', own) }))
    expect(ctx.tools.core.unknownNames({ allow: ['read_file'], deny: ['research'] })).toBeUndefined()
    expect(ctx.tools.core.unknownNames({ allow: [] })).toBeUndefined()
  })

  it('names each other name, with the nearest one that exists', async () => {
    const ctx = await app()
    ctx.tools.register(tool('read_file'))
    expect(ctx.tools.core.unknownNames({ allow: ['raed_file'], deny: ['zzz'] })).toBe(
      'toolFilter names a tool that nobody offers: "raed_file"; did you mean "read_file"? (tools: read_file)'
      + '; toolFilter names a tool that nobody offers: "zzz" (tools: read_file)')
  })
})
