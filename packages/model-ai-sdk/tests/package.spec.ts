import type { LanguageModelV3Prompt, SharedV3ProviderOptions } from '@ai-sdk/provider'
import { loadApp } from '@offshoot/loader'
import ModelService, { describeFailure } from '@offshoot/model'
import { Context } from 'cordis'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import * as plugin from '../src/index.ts'
import { PackageModel } from '../src/index.ts'
import { MessagesEndpoint, type MessagesHandler } from './messages-endpoint.ts'
import { ask, gate, partOf, say } from './support.ts'

afterEach(() => { vi.unstubAllEnvs() })

/** A folder with a `cordis.yml` that loads this plugin with `config`, and with `packages` installed in it. */
async function folder(config: string, packages: Readonly<Record<string, string>> = {}): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'offshoot-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  await writeFile(join(dir, 'cordis.yml'), `- name: '@offshoot/model'\n- name: '@offshoot/model-ai-sdk'\n  config: ${config}\n`)
  for (const [name, source] of Object.entries(packages)) {
    const home = join(dir, 'node_modules', name)
    await mkdir(home, { recursive: true })
    await writeFile(join(home, 'package.json'), JSON.stringify({ name, type: 'module', main: 'index.js' }))
    await writeFile(join(home, 'index.js'), source)
  }
  return join(dir, 'cordis.yml')
}

const options = { conditions: ['offshoot-source'], resolveFrom: [import.meta.url] }

async function load(...args: Parameters<typeof folder>) {
  const app = await loadApp(await folder(...args), options)
  onTestFinished(() => app.dispose())
  return app
}

/** The model of an app that is configured for Claude, with the endpoint that it asks. */
async function claude(handler?: MessagesHandler, more = ''): Promise<{ endpoint: MessagesEndpoint, model: PackageModel }> {
  const endpoint = await MessagesEndpoint.start(handler)
  onTestFinished(() => endpoint[Symbol.asyncDispose]())
  const app = await load(`{ provider: '@ai-sdk/anthropic', model: claude-test, baseURL: '${endpoint.baseURL}', apiKey: key-in-config${more} }`)
  return { endpoint, model: app.ctx.models.get('main') as PackageModel }
}

/** Makes models that answer with what they were made of. */
const echo = (specificationVersion: string): string => `
  export function createEcho(settings) {
    return { languageModel: modelId => ({ specificationVersion: '${specificationVersion}', provider: 'echo', modelId, settings, async doStream() { throw new Error('not asked') } }) }
  }
  export const createNothing = 'no function'
  export function created() { throw new Error('not called') }`

describe('a provider package', () => {
  it('is loaded by its name from the folder of the config file, and waits for ctx.models like any other', async () => {
    const app = await load('{ name: echo, provider: echo-provider, model: loud }', { 'echo-provider': echo('v3') })
    const { models } = app.ctx
    expect(models.list()).toEqual(['echo'])
    expect(models.get('echo')).toMatchObject({ provider: 'echo', modelId: 'loud', specificationVersion: 'v3' })
    await app.dispose()
    expect(models.list()).toEqual([])
  })

  it('is found beside this package, too', async () => {
    const { model } = await claude()
    expect(model).toBeInstanceOf(PackageModel)
    expect(model).toMatchObject({ provider: 'anthropic.messages', modelId: 'claude-test' })
  })

  it('registers nothing where the plugin is unloaded while it is imported', async () => {
    const held = gate()
    Object.assign(globalThis, { offshootTestGate: held.opened })
    const file = await folder('{}', { slow: `await globalThis.offshootTestGate; ${echo('v3')}` })
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    ctx.baseUrl = pathToFileURL(file).href
    await ctx.plugin(ModelService)
    const fiber = ctx.plugin(plugin, { provider: 'slow', model: 'm' })
    const gone = fiber.dispose()
    held.open()
    await gone
    await expect(fiber.await()).resolves.toBeDefined()
    expect(ctx.models.list()).toEqual([])
    await ctx.plugin(plugin, { provider: 'slow', model: 'm' })
    expect(ctx.models.list()).toEqual(['main'])
  })
})

describe('a provider that cannot be used is a problem of its entry, in one sentence:', () => {
  it.each<[string, string, string, Record<string, string>?]>([
    ['one that is not installed', '{ provider: \'@ai-sdk/no-such\', model: m }', 'provider package "@ai-sdk/no-such" is not installed; run: npm install @ai-sdk/no-such'],
    ['a part of one that is not installed', '{ provider: no-such/part, model: m }', 'run: npm install no-such'],
    ['a blank name', '{ provider: \' \', model: m }', 'config key "provider": " " is no package name; name one such as @ai-sdk/anthropic, or leave it out for an OpenAI-compatible endpoint'],
    ['an empty name', '{ provider: \'\', model: m }', 'config key "provider": "" is no package name'],
    ['a path', '{ provider: ./mine.js, model: m }', 'config key "provider": "./mine.js" is no package name'],
    ['a part of Node.js', '{ provider: fs, model: m }', 'provider package "fs" cannot be used: it is a part of Node.js'],
    ['a package of something else', '{ provider: other, model: m }', 'provider package "other" is no AI SDK provider: it exports no function create… that makes one', { other: 'export const x = 1' }],
    ['a package that does not run', '{ provider: other, model: m }', 'provider package "other" cannot be imported: it rains', { other: 'throw new Error("it rains")' }],
    ['one whose factory fails', '{ provider: other, model: m }', 'provider package "other" cannot be used: no region', { other: 'export function createOther() { throw new Error("no region") }' }],
    ['one of an older line', '{ provider: old, model: m }', 'provider package "old" cannot be used: its models are of specification "v2", and "v3" (the AI SDK v6 line) is needed; install another version', { old: echo('v2') }],
    ['options without the vendor\'s name', '{ provider: \'@ai-sdk/anthropic\', model: m, providerOptions: { effort: low } }', 'config key "providerOptions.effort": with a provider, options stand under the vendor\'s name, as in { anthropic: { … } }'],
    ['no model', '{ provider: \'@ai-sdk/anthropic\' }', 'missing config key "model"'],
    ['an address that is none', '{ provider: \'@ai-sdk/anthropic\', model: m, baseURL: localhost }', 'baseURL "localhost" is no http(s) URL; give a full address, or leave it out for the vendor\'s own'],
    ['neither a provider nor an endpoint', '{ model: m }', 'missing config key "baseURL"; name an endpoint, or a provider package as "provider"'],
    ['a misspelt key', '{ provder: \'@ai-sdk/anthropic\', model: m }', 'unknown config key "provder"; did you mean "provider"?'],
  ])('%s', async (_what, config, sentence, packages) => {
    const failure = await load(config, packages).catch((error: unknown) => error) as { problems: { where: string, message: string }[] }
    const found = failure.problems.filter(({ message }) => message.includes(sentence))
    expect(failure.problems.map(({ message }) => message).join('\n')).toContain(sentence)
    expect(found[0]!.where).toMatch(/cordis\.yml:2:3$/)
    expect(found[0]!.message).not.toContain('\n')
  })
})

describe('what a model of a package is asked', () => {
  it('reaches the configured address with the configured key and headers', async () => {
    const { endpoint, model } = await claude(undefined, ', headers: { x-team: birds }')
    expect(partOf(await ask(model), 'text-delta').delta).toBe('ok')
    const [{ path, headers, body }] = endpoint.requests as [MessagesEndpoint['requests'][number]]
    expect([path, headers['x-api-key'], headers['x-team'], body.model]).toEqual(['/v1/messages', 'key-in-config', 'birds', 'claude-test'])
  })

  it('has the options of the config, and those of the request go first', async () => {
    const { endpoint, model } = await claude(undefined, ', providerOptions: { anthropic: { metadata: { userId: config }, disableParallelToolUse: true } }')
    await ask(model, { maxOutputTokens: 77, providerOptions: { anthropic: { metadata: { userId: 'request' } } } })
    expect(endpoint.requests[0]!.body).toMatchObject({ metadata: { user_id: 'request' }, max_tokens: 77 })
  })

  it('holds nothing of what agents note for themselves', async () => {
    const seen: unknown[] = []
    const model = new PackageModel({ specificationVersion: 'v3', provider: 'all', modelId: 'm', supportedUrls: {}, doGenerate: () => { throw new Error('unused') }, doStream: async request => {
      seen.push(request)
      return { stream: new ReadableStream({ start: controller => { controller.close() } }) }
    } })
    const call = (providerOptions: object) => ({ type: 'tool-call', toolCallId: 'c', toolName: 'look', input: {}, providerOptions }) as const
    const prompt = [...say('go'), { role: 'assistant', content: [call({ offshoot: { input: '{ }' } }), call({ offshoot: { input: '{ }' }, google: { sign: 's' } })] }] as LanguageModelV3Prompt
    await ask(model, { prompt, providerOptions: { offshoot: { label: 'main', step: 1 } } })
    expect(JSON.stringify(seen)).not.toContain('offshoot')
    expect(seen[0]).toMatchObject({ providerOptions: {}, prompt: [{}, {}, { content: [{ toolCallId: 'c' }, { providerOptions: { google: { sign: 's' } } }] }] })
  })
})

describe('what a model of a package answers', () => {
  it('has its reasoning with the signature that Anthropic wants back', async () => {
    const { endpoint, model } = await claude(() => ({ thinking: 'Hm.', text: 'hi' }))
    const parts = await ask(model)
    const signed = parts.flatMap(part => part.type === 'reasoning-delta' || part.type === 'reasoning-end' ? part.providerMetadata ?? [] : [])
    expect(signed).toEqual([{ anthropic: { signature: 'c2ln' } }])
    const reply: LanguageModelV3Prompt[number] = {
      role: 'assistant', content: [{ type: 'reasoning', text: 'Hm.', providerOptions: signed[0] as SharedV3ProviderOptions }, { type: 'text', text: 'hi' }],
    }
    await ask(model, { prompt: [...say('hello'), reply, ...say('bye').slice(1)] })
    expect(endpoint.requests[1]!.body.messages[1]!.content).toEqual([{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }, { type: 'text', text: 'hi' }])
  })

  it('says where an error within the answer comes from', async () => {
    const { model } = await claude(() => ({ text: 'half', error: { type: 'overloaded_error', message: 'Overloaded' } }))
    expect(describeFailure(partOf(await ask(model), 'error').error)).toBe('anthropic.messages (claude-test) broke off its answer: Overloaded')
  })

  it('names the address where that refuses', async () => {
    const { endpoint, model } = await claude()
    const failure = await ask(model, { prompt: [...say('go'), { role: 'assistant', content: [{ type: 'text', text: 'prefilled' }] }] }).catch((error: unknown) => error)
    expect(describeFailure(failure)).toBe(`the model endpoint ${endpoint.baseURL}/messages answered 400: the conversation must end with a user message`)
  })

  it('says which variable the key is wanted in where none is configured', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', undefined)
    const app = await load('{ provider: \'@ai-sdk/anthropic\', model: m }')
    await expect(ask(app.ctx.models.get('main'))).rejects.toThrow(/ANTHROPIC_API_KEY/)
  })

  it('ends with the reason of an abort', async () => {
    const { model } = await claude(() => ({ hold: new Promise(() => {}) }))
    const controller = new AbortController()
    const asking = ask(model, { abortSignal: controller.signal })
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(asking).rejects.toBe(reason)
  })
})
