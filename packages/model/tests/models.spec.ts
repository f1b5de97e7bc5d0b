import { Context } from 'cordis'
import { describe, expect, it, onTestFinished } from 'vitest'
import ModelService, { type LanguageModel, ModelError } from '../src/index.ts'

function model(modelId = 'm'): LanguageModel {
  return { specificationVersion: 'v3', provider: 'test', modelId, doStream: async () => ({ stream: new ReadableStream() }) }
}

async function app(): Promise<Context> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(ModelService)
  return ctx
}

/** A plugin that registers models, and that a test can unload. */
function plugin(...names: string[]) {
  return { name: `plugin-${names.join('-')}`, inject: ['models'], apply(ctx: Context) { for (const name of names) ctx.models.register(name, model(name)) } }
}

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof ModelError) return `${error.code}: ${error.message}`
    throw error
  }
  throw new Error('it did not throw')
}

describe('ctx.models', () => {
  it('gives back the very model that was registered', async () => {
    const ctx = await app()
    const main = model()
    ctx.models.register('main', main)
    expect(ctx.models.get('main')).toBe(main)
    expect(ctx.models.core.get('main')).toBe(main)
  })

  it('lists names, oldest first', async () => {
    const ctx = await app()
    await ctx.plugin(plugin('zebra', 'apple'))
    expect(ctx.models.list()).toEqual(['zebra', 'apple'])
  })

  it('keeps a model for as long as the plugin that registered it', async () => {
    const ctx = await app()
    const fiber = await ctx.plugin(plugin('a'))
    await ctx.plugin(plugin('b'))
    await fiber.dispose()
    expect(ctx.models.list()).toEqual(['b'])
  })

  it('withdraws a model early, and its name is free again', async () => {
    const ctx = await app()
    const withdraw = ctx.models.register('a', model('first'))
    withdraw()
    ctx.models.register('a', model('second'))
    expect(ctx.models.get('a').modelId).toBe('second')
  })

  it('refuses a name that is taken, and keeps the model that has it', async () => {
    const ctx = await app()
    ctx.models.register('main', model('first'))
    expect(codeOf(() => ctx.models.register('main', model('second')))).toBe('DUPLICATE_MODEL: model "main" is already registered; give one of the two another name')
    expect(ctx.models.get('main').modelId).toBe('first')
  })

  it.each([
    ['a v2 model', { ...model(), specificationVersion: 'v2' }],
    ['an object without doStream', { specificationVersion: 'v3', provider: 'test', modelId: 'm' }],
    ['nothing', undefined],
  ])('refuses %s', async (_what, value) => {
    const ctx = await app()
    expect(codeOf(() => ctx.models.register('main', value as never))).toMatch(/^INVALID_MODEL: model "main" is no AI SDK LanguageModelV3/)
    expect(ctx.models.list()).toEqual([])
  })

  it('names the nearest model and those there are, where a name is unknown', async () => {
    const ctx = await app()
    await ctx.plugin(plugin('main', 'cheap'))
    expect(codeOf(() => ctx.models.get('chaep'))).toBe('UNKNOWN_MODEL: no model "chaep"; did you mean "cheap"? (models: cheap, main)')
  })
})

describe('a request that names no model', () => {
  it('means the only one, whatever its name', async () => {
    const ctx = await app()
    await ctx.plugin(plugin('cheap'))
    expect(ctx.models.get().modelId).toBe('cheap')
  })

  it('means "main" among several', async () => {
    const ctx = await app()
    await ctx.plugin(plugin('cheap', 'main'))
    expect(ctx.models.get().modelId).toBe('main')
  })

  it('is refused among several without a "main", in a sentence that lists them', async () => {
    const ctx = await app()
    await ctx.plugin(plugin('large', 'cheap'))
    expect(codeOf(() => ctx.models.get())).toBe('NO_DEFAULT_MODEL: several models are registered and none is called "main"; name one (models: cheap, large)')
  })

  it('is refused where there is none, in a sentence that says how to get one', async () => {
    const ctx = await app()
    expect(codeOf(() => ctx.models.get())).toBe('NO_DEFAULT_MODEL: no model is registered; load one, for example @offshoot/model-ai-sdk')
  })
})
