import type { Agent } from '@offshoot/agent'
import * as modelAiSdk from '@offshoot/model-ai-sdk'
import { type RecordedRequest, type Reply, toolsOf } from '@offshoot/model-ai-sdk/testing'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { App, gate, isParent, lastMessage, parentTask, settled } from './support.ts'

// Sockets are real; only waiting is not.
beforeEach(() => { vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }) })
afterEach(() => { vi.useRealTimers() })

const models = ['cheap', 'other']

/** An app with one delegation tool for each of two more models, and a tool for the children. */
async function start(): Promise<App> {
  const app = await App.start(models.map(model => ({ provider: 'spawn', toolName: model, agentOptions: { model }, concurrency: 'parallel', enableRunInBackground: false })))
  for (const name of models) await app.ctx.plugin(modelAiSdk, { name, baseURL: app.endpoint.baseURL, model: name })
  app.ctx.tools.register(defineTool({ name: 'look_up', description: 'Looks up.', parameters: Type.Object({}), execute: () => 'on the shelf' }))
  await settled(app.ctx)
  return app
}

/** The parent asks each of `children` (`<model>: <label>`) at once, and then answers. The others are answered by `reply`. */
function delegate({ endpoint }: App, children: readonly string[], reply: (request: RecordedRequest, index: number) => Reply): void {
  let index = 0
  endpoint.respond(request => {
    if (!isParent(request)) return reply(request, index++)
    if (lastMessage(request).role === 'tool') return { text: 'Done.' }
    return { calls: children.map(child => {
      const [name, description] = child.split(': ') as [string, string]
      return { name, arguments: { description, prompt: `You are ${description}.` } }
    }) }
  })
}

const labelOf = (request: RecordedRequest): string => /You are (\w+)\./.exec(request.text)![1]!

it('429 with Retry-After on one child holds its siblings on that model; other models go on', async () => {
  await using app = await start()
  const held = new Map(['anna', 'ben', 'cleo'].map(label => [label, gate()]))
  const agents = new Map<string, Agent>()
  app.ctx.on('agent/created', agent => {
    agents.set(agent.label, agent)
    agent.on(({ type }) => { if (type === 'rate-limit') held.get(agent.label)!.open() })
  })
  const [goesFirst, answer] = [gate(), gate()]
  let refusals = 0
  delegate(app, ['cheap: anna', 'cheap: ben', 'cheap: cleo', 'other: dora'], request => {
    const [label, isFirst] = [labelOf(request), lastMessage(request).role === 'user']
    if (label === 'anna' && refusals++ === 0) return { status: 429, error: { error: { message: 'slow down', code: 'rate_limit_exceeded' } }, headers: { 'retry-after': '30' } }
    if (label === 'anna') goesFirst.open()
    if (label === 'anna') return { text: 'I am anna.', hold: answer.opened }
    if (isFirst) return { calls: [{ name: 'look_up', arguments: {} }], ...(label === 'dora' ? {} : { hold: held.get('anna')!.opened }) }
    return { text: `I am ${label}.` }
  })
  const dora = gate()
  app.ctx.on('subagent/end', ({ label }) => { if (label === 'dora') dora.open() })
  const turn = app.agent().run(parentTask)
  await Promise.all([...held.values(), dora].map(({ opened }) => opened))

  const sent = (): string[] => app.endpoint.requests.filter(request => !isParent(request)).map(labelOf).sort()
  expect(sent()).toEqual(['anna', 'ben', 'cleo', 'dora', 'dora'])
  await vi.advanceTimersByTimeAsync(29_900)
  expect(['anna', 'ben', 'cleo'].map(label => agents.get(label)!.progress!.waitsFor)).toEqual(['rate-limit', 'rate-limit', 'rate-limit'])
  await vi.advanceTimersByTimeAsync(1100)
  await goesFirst.opened
  expect(['anna', 'ben', 'cleo'].map(label => agents.get(label)!.progress!.waitsFor)).toEqual(['model', 'rate-limit', 'rate-limit'])
  answer.open()
  expect(await turn).toMatchObject({ stopReason: 'completed', output: [{ text: 'Done.' }] })

  expect(sent()).toEqual(['anna', 'anna', 'ben', 'ben', 'cleo', 'cleo', 'dora', 'dora'])
  const [refused, again] = app.endpoint.requests.filter(request => !isParent(request) && labelOf(request) === 'anna')
  expect(again!.text).toBe(refused!.text)
  const ended = app.ended.map(([{ label }, { stopReason, usage }]) => `${label} ${stopReason}: ${usage.steps} steps, ${usage.inputTokens} tokens`)
  expect(ended.sort()).toEqual(['anna completed: 1 steps, 100 tokens', ...['ben', 'cleo', 'dora'].map(label => `${label} completed: 2 steps, 200 tokens`)])
})

it.each([
  ['quota', { status: 429, error: { error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' } }, headers: { 'retry-after': '1' } }],
  ['context-overflow', { status: 400, error: { error: { message: 'This model\'s maximum context length is 8192 tokens.', code: 'context_length_exceeded' } } }],
])('%s is not retried, and holds nobody else', async (reason, failure) => {
  await using app = await start()
  delegate(app, ['cheap: anna', 'cheap: ben'], request => labelOf(request) === 'anna' ? failure : { text: 'I am ben.' })
  expect(await app.agent().run(parentTask)).toMatchObject({ stopReason: 'completed' })
  const children = app.endpoint.requests.filter(request => !isParent(request))
  expect(children.map(labelOf).sort()).toEqual(['anna', 'ben'])
  expect(toolsOf(children[0]!)).toContain('look_up')
  const results = app.endpoint.requests.at(-1)!.body.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
  expect(results).toEqual([`Error: subagent run ended abnormally (${reason})`, 'I am ben.'])
  const diagnostic = app.ended.find(([{ label }]) => label === 'anna')![1].diagnostic
  expect(diagnostic).toBe(`the model endpoint ${app.endpoint.baseURL}/chat/completions answered ${failure.status}: ${failure.error.error.message}`)
})
