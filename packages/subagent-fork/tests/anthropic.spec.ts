import type { Agent } from '@offshoot/agent'
import * as modelAiSdk from '@offshoot/model-ai-sdk'
import type { SubagentResult, SubagentRunInfo, SubagentStartRequest } from '@offshoot/subagent'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { Context } from 'cordis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { blocksOf, extendsMessages, MessagesEndpoint, type MessagesHandler, type MessagesRequest, tokensPerBlock } from '../../model-ai-sdk/tests/messages-endpoint.ts'
import * as runtime from '../../runtime/src/index.ts'
import * as toolSubagent from '../../tool-subagent/src/index.ts'
import { settled } from '../../tool-subagent/tests/support.ts'
import { rolePin } from '../src/wording.ts'

interface App {
  readonly ctx: Context
  readonly endpoint: MessagesEndpoint
  readonly agent: Agent
  readonly ended: [SubagentRunInfo, SubagentResult][]
}

/** A real app whose models are Anthropic's, as far as the wire shows. */
async function start(seed: 'turns' | 'steps', handler: MessagesHandler): Promise<App> {
  const endpoint = await MessagesEndpoint.start(handler)
  const ctx = new Context()
  onTestFinished(async () => {
    await ctx.fiber.dispose()
    await endpoint[Symbol.asyncDispose]()
  })
  await ctx.plugin(runtime, { agent: { model: 'main' }, fork: { seed } })
  for (const name of ['main', 'other']) {
    await ctx.plugin(modelAiSdk, { name, provider: '@ai-sdk/anthropic', model: `claude-${name}`, baseURL: endpoint.baseURL, apiKey: 'key' })
  }
  ctx.tools.register(defineTool({ name: 'look_up', description: 'Looks up.', parameters: Type.Object({}), concurrency: 'parallel', execute: () => 'on the shelf' }))
  await ctx.plugin(toolSubagent, { provider: 'fork' })
  await settled(ctx)
  const ended: App['ended'] = []
  ctx.on('subagent/end', (info, result) => { ended.push([info, result]) })
  return { ctx, endpoint, agent: ctx.agents.create(), ended }
}

const isChild = ({ text }: MessagesRequest): boolean => text.includes(rolePin)
const tokensOf = ({ body }: MessagesRequest): number => blocksOf(body).length * tokensPerBlock
const delegate = { name: 'subagent', arguments: { description: 'the task', prompt: 'Sum it up.' } }

/** Two turns; in the second, a step that looks up, and one that delegates among other calls. */
async function converse(seed: 'turns' | 'steps'): Promise<App & { parents: MessagesRequest[], child: MessagesRequest }> {
  const replies = [
    { thinking: 'Hm.', text: 'Let me look.', calls: [{ name: 'look_up', arguments: {} }] },
    { text: 'First answer.' },
    { thinking: 'Well.', calls: [{ name: 'look_up', arguments: {} }] },
    { text: 'On it.', calls: [{ name: 'look_up', arguments: {} }, delegate, { name: 'look_up', arguments: {} }] },
    { text: 'Second answer.' },
  ]
  const app = await start(seed, request => isChild(request) ? { text: 'The sum.' } : replies.shift()!)
  for (const prompt of ['First.', 'Second.']) expect((await app.agent.run(prompt)).stopReason).toBe('completed')
  expect(app.ended.map(([, { stopReason, diagnostic }]) => [stopReason, diagnostic])).toEqual([['completed', undefined]])
  const [child] = app.endpoint.requests.filter(isChild)
  return { ...app, parents: app.endpoint.requests.filter(request => !isChild(request)), child: child! }
}

describe('a fork on Anthropic', () => {
  it('with seed "turns" extends the last request of the completed turns, and reads it whole from the cache', async () => {
    const { parents, child, ended } = await converse('turns')
    expect(extendsMessages(parents[1]!, child)).toBe(true)
    expect(ended[0]![1].usage.cachedInputTokens).toBe(tokensOf(parents[1]!))
    expect(ended[0]![0].seed).toEqual({ turns: 1, steps: 0, moved: [], coldCache: false })
    // That request's end, the answer to it, and the task: nothing of the turn under way.
    expect(tokensOf(child)).toBe(tokensOf(parents[1]!) + 2 * tokensPerBlock)
  })

  it('with seed "steps" extends the latest request, and reads it whole from the cache', async () => {
    const { parents, child, ended } = await converse('steps')
    expect(extendsMessages(parents[3]!, child)).toBe(true)
    expect(ended[0]![1].usage.cachedInputTokens).toBe(tokensOf(parents[3]!))
    expect(tokensOf(child)).toBe(tokensOf(parents[3]!) + tokensPerBlock)
  })

  it.each(['turns', 'steps'] as const)('costs the parent nothing of its own cache, with seed "%s"', async seed => {
    const { parents } = await converse(seed)
    expect(parents.map(({ cached }) => cached)).toEqual([0, ...parents.slice(0, -1).map(tokensOf)])
  })

  it.each<[string, Partial<SubagentStartRequest>, (tools: number) => number]>([
    ['another model reads nothing', { agentOptions: { model: 'other' } }, () => 0],
    ['a persona reads the tools alone', { persona: 'You are a critic.' }, tools => tools],
    ['a filter reads nothing', { toolFilter: { deny: ['look_up'] } }, () => 0],
  ])('that has %s, and its info says that the cache is cold', async (_what, overrides, expected) => {
    const { ctx, agent, endpoint, ended } = await start('turns', () => ({ text: 'ok' }))
    await agent.run('First.')
    await using run = await ctx.subagents.start('fork', { prompt: 'Go.', parent: agent, signal: new AbortController().signal, ...overrides })
    await run.result
    expect(ended[0]![0].seed).toMatchObject({ turns: 1, coldCache: true })
    expect(ended[0]![1].usage.cachedInputTokens).toBe(expected(endpoint.requests[0]!.body.tools!.length * tokensPerBlock))
  })

  it.each(['turns', 'steps'] as const)('is accepted after a turn that was aborted in the middle of its calls, with seed "%s"', async seed => {
    let children = 0
    const app = await start(seed, request => {
      if (isChild(request)) {
        if (children++ > 0) return { text: 'Done.' }
        app.agent.abort()
        return { hold: new Promise(() => {}) }
      }
      const look = { name: 'look_up', arguments: {} }
      if (!request.text.includes('Second.')) return { text: 'On it.', calls: [look, delegate, look] }
      return request.text.includes('"Done."') ? { text: 'Fine.' } : { calls: [delegate] }
    })
    expect((await app.agent.run('First.')).stopReason).toBe('aborted')
    expect((await app.agent.run('Second.')).stopReason).toBe('completed')
    expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual(['aborted', 'completed'])
    expect(app.endpoint.requests.filter(isChild).at(-1)!.text).toContain('On it.')
  })
})
