import { createAnthropic } from '@ai-sdk/anthropic'
import type { LanguageModelV3FunctionTool, LanguageModelV3Message, LanguageModelV3Prompt } from '@ai-sdk/provider'
import type { ModelRequest } from '@offshoot/model'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadPackageModel, type PackageOptions } from '../src/load-package.ts'
import { PackageModel } from '../src/index.ts'
import { blocksOf, extendsMessages, MessagesEndpoint, type MessagesHandler, tokensPerBlock } from './messages-endpoint.ts'
import { ask, partOf } from './support.ts'

async function claude(handler?: MessagesHandler, options: Partial<PackageOptions> = {}): Promise<{ endpoint: MessagesEndpoint, model: PackageModel }> {
  const endpoint = await MessagesEndpoint.start(handler)
  onTestFinished(() => endpoint[Symbol.asyncDispose]())
  const model = await loadPackageModel({ provider: '@ai-sdk/anthropic', model: 'claude-test', baseURL: endpoint.baseURL, apiKey: 'key', ...options }, [import.meta.url])
  return { endpoint, model }
}

const system: LanguageModelV3Message = { role: 'system', content: 'You are a test.' }
const tools: LanguageModelV3FunctionTool[] = ['look', 'write'].map(name => ({ type: 'function', name, description: name, inputSchema: { type: 'object', properties: {} } }))

const user = (text: string): LanguageModelV3Message => ({ role: 'user', content: [{ type: 'text', text }] })
const says = (text: string): LanguageModelV3Message => ({ role: 'assistant', content: [{ type: 'text', text }] })

/** A step: that many calls of `look`, and their results. */
function step(n: number, calls: number): LanguageModelV3Message[] {
  const ids = Array.from({ length: calls }, (_, i) => `toolu_${n}_${i}`)
  return [
    { role: 'assistant', content: ids.map(id => ({ type: 'tool-call', toolCallId: id, toolName: 'look', input: {} })) },
    { role: 'tool', content: ids.map(id => ({ type: 'tool-result', toolCallId: id, toolName: 'look', output: { type: 'text', value: `seen ${id}` } })) },
  ]
}

async function send(model: PackageModel, prompt: LanguageModelV3Prompt, rest: Partial<ModelRequest> = {}) {
  return partOf(await ask(model, { prompt, tools, ...rest }), 'finish').usage
}

/** Which of the blocks of the newest request have a breakpoint, by their text. */
function marked({ requests }: MessagesEndpoint): string[] {
  return blocksOf(requests.at(-1)!.body).filter(({ isBreakpoint }) => isBreakpoint).map(({ text }) => text)
}

describe('a request to Anthropic', () => {
  it('has a breakpoint after its tools, after its system text, and at its end', async () => {
    const { endpoint, model } = await claude()
    await send(model, [system, user('Hello.')])
    expect(marked(endpoint)).toEqual([expect.stringMatching(/^tool .*"write"/), expect.stringMatching(/^system .*You are a test/), expect.stringMatching(/^user .*Hello/)])
    expect(endpoint.requests[0]!.body.tools!.at(-1)!.cache_control).toEqual({ type: 'ephemeral' })
  })

  it('has one more where the request before it ended', async () => {
    const { endpoint, model } = await claude()
    await send(model, [system, user('One.'), says('Yes?'), user('Two.'), says('Yes?'), user('Three.')])
    expect(marked(endpoint).slice(2)).toEqual([expect.stringMatching(/Two/), expect.stringMatching(/Three/)])
    await send(model, [system, user('One.'), ...step(1, 2), ...step(2, 3)])
    expect(marked(endpoint).slice(2)).toEqual([expect.stringMatching(/seen toolu_1_1/), expect.stringMatching(/seen toolu_2_2/)])
  })

  it('has them where the last messages are several of the user\'s, as notices are', async () => {
    const { endpoint, model } = await claude()
    await send(model, [system, user('One.'), ...step(1, 2), user('A notice.')])
    expect(marked(endpoint).slice(2)).toEqual([expect.stringMatching(/One/), expect.stringMatching(/A notice/)])
  })

  it('has them without tools, and without a system text', async () => {
    const { endpoint, model } = await claude()
    await ask(model, { prompt: [user('Hello.')] })
    expect(marked(endpoint)).toEqual([expect.stringMatching(/Hello/)])
  })

  it('extends the one before byte for byte, apart from where the breakpoints stand', async () => {
    const { endpoint, model } = await claude()
    const prompt = [system, user('One.')]
    for (let n = 0; n < 4; n++) {
      await send(model, [...prompt])
      prompt.push(...step(n, 2))
    }
    for (let n = 1; n < 4; n++) expect(extendsMessages(endpoint.requests[n - 1]!, endpoint.requests[n]!)).toBe(true)
  })

  it('is made of copies: what it was given is frozen, and stays as it was', async () => {
    const { model } = await claude()
    const freeze = <T>(value: T): T => {
      if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze)
      return value
    }
    const prompt = freeze([system, user('One.'), ...step(1, 1)])
    const before = JSON.stringify([prompt, tools])
    await send(model, prompt, { tools: freeze([...tools]) })
    expect(JSON.stringify([prompt, tools])).toBe(before)
  })

  it('has the breakpoints that are configured, and none at the top, which would be a fifth', async () => {
    const { endpoint, model } = await claude(undefined, { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' }, metadata: { userId: 'u' } } } })
    await send(model, [system, user('One.'), says('Yes?'), user('Two.')])
    const { body } = endpoint.requests[0]!
    expect(body.system![0]!.cache_control).toEqual({ type: 'ephemeral', ttl: '1h' })
    expect(body).not.toHaveProperty('cache_control')
    expect(body['metadata']).toEqual({ user_id: 'u' })
    expect(marked(endpoint)).toHaveLength(4)
  })
})

describe('with them, the cache', () => {
  it('gives each request all that the one before sent, and the usage says so', async () => {
    const { endpoint, model } = await claude()
    const prompt = [system, user('One.')]
    const cached: unknown[] = []
    for (let n = 0; n < 4; n++) {
      cached.push((await send(model, [...prompt])).inputTokens.cacheRead)
      prompt.push(...step(n, 2))
    }
    const sizes = endpoint.requests.map(({ body }) => blocksOf(body).length * tokensPerBlock)
    expect(cached).toEqual([0, ...sizes.slice(0, -1)])
  })

  it('gives it all the same after a step of more calls than Anthropic looks back', async () => {
    const { endpoint, model } = await claude()
    await send(model, [system, user('One.')])
    const { inputTokens } = await send(model, [system, user('One.'), ...step(1, 24)])
    expect(inputTokens.cacheRead).toBe(blocksOf(endpoint.requests[0]!.body).length * tokensPerBlock)
  })

  it('gives the tools to a request with another system text', async () => {
    const { model } = await claude()
    await send(model, [system, user('One.')])
    const { inputTokens } = await send(model, [{ role: 'system', content: 'You are another.' }, user('Two.')])
    expect(inputTokens.cacheRead).toBe(tools.length * tokensPerBlock)
  })

  it('counts as part of the whole input', async () => {
    const { endpoint, model } = await claude()
    await send(model, [system, user('One.')])
    const { inputTokens } = await send(model, [system, user('One.'), says('Yes?'), user('Two.')])
    const total = blocksOf(endpoint.requests[1]!.body).length * tokensPerBlock
    expect(inputTokens).toEqual({ total, noCache: 0, cacheRead: 4 * tokensPerBlock, cacheWrite: 2 * tokensPerBlock })
  })

  it('is not said to have given nothing where the endpoint did not say', async () => {
    const { model } = await claude(() => ({ text: 'ok', silentCache: true }))
    const { inputTokens, outputTokens } = await send(model, [system, user('One.')])
    expect([inputTokens.cacheRead, inputTokens.cacheWrite, outputTokens.reasoning]).toEqual([undefined, undefined, undefined])
  })
})

it('a model that was made in code has them, too', async () => {
  const { endpoint } = await claude()
  const model = new PackageModel(createAnthropic({ baseURL: endpoint.baseURL, apiKey: 'key' })('claude-in-code'))
  await send(model, [system, user('Hello.')])
  expect(marked(endpoint)).toHaveLength(3)
  expect(endpoint.requests[0]!.body.model).toBe('claude-in-code')
})
