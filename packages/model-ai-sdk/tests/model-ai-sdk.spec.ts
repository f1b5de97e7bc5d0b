import ModelService from '@offshoot/model'
import { Context } from 'cordis'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as plugin from '../src/index.ts'
import { ask, endpointWith } from './support.ts'

async function app(): Promise<Context> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(ModelService)
  return ctx
}

describe('model-ai-sdk', () => {
  it('registers its model as "main", or under the configured name', async () => {
    const ctx = await app()
    await ctx.plugin(plugin, { baseURL: 'http://127.0.0.1:1/v1', model: 'large' })
    await ctx.plugin(plugin, { name: 'cheap', baseURL: 'http://127.0.0.1:1/v1', model: 'small' })
    expect(ctx.models.list()).toEqual(['main', 'cheap'])
    expect(ctx.models.get().modelId).toBe('large')
    expect(ctx.models.get('cheap').modelId).toBe('small')
  })

  it('waits for ctx.models, and withdraws its model when it is unloaded', async () => {
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    const fiber = ctx.plugin(plugin, { baseURL: 'http://127.0.0.1:1/v1', model: 'large' })
    await ctx.plugin(ModelService)
    await fiber
    expect(ctx.models.list()).toEqual(['main'])
    await fiber.dispose()
    expect(ctx.models.list()).toEqual([])
  })

  it('reaches the endpoint with nothing but a base URL and a model', async () => {
    const { endpoint } = await endpointWith()
    const ctx = await app()
    await ctx.plugin(plugin, { baseURL: endpoint.baseURL, model: 'large' })
    await ask(ctx.models.get())
    expect(Object.keys(endpoint.requests[0]!.body).sort()).toEqual(['messages', 'model', 'stream', 'stream_options'])
  })

  it('leaves what is not configured absent', () => {
    const validated = plugin.Config['~standard'].validate({ baseURL: 'http://127.0.0.1/v1', model: 'm' })
    expect(validated).toEqual({ value: { name: 'main', baseURL: 'http://127.0.0.1/v1', model: 'm' } })
  })

  it.each([
    ['localhost:8000/v1', 'baseURL "localhost:8000/v1" is no http(s) URL'],
    ['', 'baseURL "" is no http(s) URL'],
    ['file:///tmp', 'baseURL "file:///tmp" is no http(s) URL'],
    ['https://example.org/v1?version=1', 'baseURL "https://example.org/v1" must end with its path'],
    ['https://user:hunter2@example.org/v1', 'baseURL "https://example.org/v1" must end with its path'],
  ])('refuses the base URL %j at load, in a sentence that names it', async (baseURL, sentence) => {
    const ctx = await app()
    const fiber = ctx.plugin(plugin, { baseURL, model: 'm' })
    await expect(fiber.await()).rejects.toMatchObject({ code: 'INVALID_BASE_URL', message: expect.stringContaining(sentence) as string })
    expect(ctx.models.list()).toEqual([])
  })

  it('has no default export, which would hide `inject` and `Config` from the loader', () => {
    expect(plugin).not.toHaveProperty('default')
  })
})
