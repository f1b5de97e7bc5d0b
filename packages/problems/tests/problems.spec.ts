import { Context } from 'cordis'
import { describe, expect, it } from 'vitest'
import ProblemsService, { describePlugin, type Problem, reportProblem } from '../src/index.ts'

/** An app with a plugin that the tests speak for. */
async function start(config?: ConstructorParameters<typeof ProblemsService>[1]) {
  const ctx = new Context()
  if (config) await ctx.plugin(ProblemsService, config)
  const plugin = await ctx.plugin({ name: 'tool', apply() {} })
  return { ctx, plugin }
}

const locate = (ctx: Context) => ctx.fiber.name === 'tool' ? 'cordis.yml:3:3' : undefined

describe('report()', () => {
  it('lists the problem, located, until the plugin it belongs to is gone', async () => {
    const { ctx, plugin } = await start({ locate })
    const error = new Error('the provider cannot filter tools')
    ctx.problems.report(plugin.ctx, error)
    expect(ctx.problems.list()).toEqual([{ message: error.message, where: 'cordis.yml:3:3', error }])
    await plugin.dispose()
    expect(ctx.problems.list()).toEqual([])
  })

  it('can be taken back', async () => {
    const { ctx, plugin } = await start({})
    const withdraw = ctx.problems.report(plugin.ctx, new Error('gone in a moment'))
    withdraw()
    expect(ctx.problems.list()).toEqual([])
  })

  it('tells the host at once, each time', async () => {
    const heard: Problem[] = []
    const { ctx, plugin } = await start({ locate, onReport: problem => heard.push(problem) })
    ctx.problems.report(plugin.ctx, new Error('one'))
    ctx.problems.report(ctx, new Error('two'))
    expect(heard.map(({ where, message }) => [where, message])).toEqual([['cordis.yml:3:3', 'one'], [undefined, 'two']])
  })

  it('still tells the host for a plugin that is gone, and lists nothing', async () => {
    const heard: string[] = []
    const { ctx, plugin } = await start({ onReport: ({ message }) => heard.push(message) })
    await plugin.dispose()
    ctx.problems.report(plugin.ctx, new Error('last words'))
    expect(heard).toEqual(['last words'])
    expect(ctx.problems.list()).toEqual([])
  })
})

describe('check()', () => {
  it('is judged each time the problems are listed, for as long as its plugin lives', async () => {
    const { ctx, plugin } = await start({ locate })
    let registered = false
    ctx.problems.check(plugin.ctx, () => registered ? undefined : 'nobody registers "codex"')
    expect(ctx.problems.list()).toEqual([{ message: 'nobody registers "codex"', where: 'cordis.yml:3:3' }])
    registered = true
    expect(ctx.problems.list()).toEqual([])
    registered = false
    expect(ctx.problems.list()).toHaveLength(1)
    await plugin.dispose()
    expect(ctx.problems.list()).toEqual([])
  })

  it('is a problem itself where it throws, and costs no other check', async () => {
    const { ctx, plugin } = await start({})
    const error = new Error('broken check')
    ctx.problems.check(plugin.ctx, () => { throw error })
    ctx.problems.check(plugin.ctx, () => 'another')
    expect(ctx.problems.list()).toEqual([{ message: 'broken check', error }, { message: 'another' }])
  })
})

describe('reportProblem()', () => {
  it('reports where the app has the service', async () => {
    const { ctx, plugin } = await start({})
    const withdraw = reportProblem(plugin.ctx, new Error('misconfigured'))
    expect(ctx.problems.list()).toHaveLength(1)
    withdraw()
    expect(ctx.problems.list()).toEqual([])
  })

  it('warns in the log where it has not', async () => {
    const { ctx, plugin } = await start()
    const error = new Error('misconfigured')
    reportProblem(plugin.ctx, error)()
    expect(ctx.logger.buffer.map(({ type, name, args }) => [type, name, args])).toEqual([['warn', 'tool', [error]]])
  })
})

describe('describePlugin()', () => {
  it('names a plugin by its place in the config, where one is known', async () => {
    const located = await start({ locate })
    expect(describePlugin(located.plugin.ctx)).toBe('tool (cordis.yml:3:3)')
    for (const { plugin } of [await start({}), await start()]) expect(describePlugin(plugin.ctx)).toBe('tool')
  })
})
