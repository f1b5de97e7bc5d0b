import { messagesOf, type RecordedRequest, type WireMessage } from '@offshoot/model-ai-sdk/testing'
import type { DelegationNode } from '@offshoot/subagent'
import { describe, expect, it } from 'vitest'
import { App, gate, isParent, lastMessage, parentTask } from './support.ts'

const delegation = (n = 0) => ({ name: 'subagent', arguments: { description: `part ${n}`, prompt: 'Delegate this.' } })
const five = Array.from({ length: 5 }, (_, n) => delegation(n))

function contentOf({ content }: WireMessage): string {
  return typeof content === 'string' ? content : JSON.stringify(content)
}

/** What the results of calls say, over all requests: each once. */
function results(requests: readonly RecordedRequest[]): string[] {
  const byCall = new Map(requests.flatMap(messagesOf).filter(({ role }) => role === 'tool').map(message => [message.tool_call_id, contentOf(message)]))
  return [...byCall.values()]
}

function leaves(nodes: readonly DelegationNode[]): number {
  return nodes.reduce((sum, { children }) => sum + Math.max(1, leaves(children)), 0)
}

function started(app: App): number {
  return app.ended.length
}

describe('a model that always delegates five ways', () => {
  it('is stopped by the depth cap, every start counted, and its tree is idle afterwards', async () => {
    await using app = await App.start([{ provider: 'spawn', concurrency: 'parallel' }], { subagents: { maxDepth: 2 } })
    app.endpoint.respond(request => lastMessage(request).role === 'tool' ? { text: 'Done.' } : { calls: five })
    expect(await app.agent().run(parentTask)).toMatchObject({ stopReason: 'completed' })
    expect(started(app)).toBe(5 + 25)
    expect(results(app.endpoint.requests).filter(text => text === 'Done.')).toHaveLength(30)
    expect(results(app.endpoint.requests).filter(text => text === 'Error: a child would be at delegation depth 3, and the limit is 2 (maxDepth); do the task yourself')).toHaveLength(125)
    expect(app.ctx.subagents.tree()).toEqual([])
  })

  it('is stopped by the cap on starts, at exactly that many, and told what to do instead', async () => {
    await using app = await App.start([{ provider: 'spawn', concurrency: 'parallel' }], { subagents: { limits: { startsPerTree: 17 } } })
    app.endpoint.respond(request => lastMessage(request).role === 'tool' ? { text: 'Done.' } : { calls: five })
    expect(await app.agent().run(parentTask)).toMatchObject({ stopReason: 'completed' })
    expect(started(app)).toBe(17)
    const refused = results(app.endpoint.requests).filter(text => text.startsWith('Error: this tree of agents has started 17 children and may start 17 (limits.startsPerTree);'))
    expect(refused.length).toBeGreaterThan(0)
    for (const text of refused) expect(text).toMatch(/; do the rest of the task yourself$/)
    expect(app.ctx.subagents.tree()).toEqual([])
  })

  it('never has more at work than may be, and all of them come to their end', async () => {
    let most = 0
    await using app = await App.start([{ provider: 'spawn', concurrency: 'parallel' }], { subagents: { maxDepth: 2, limits: { concurrentPerTree: 3 } } })
    let busy = 0
    app.endpoint.respond(async request => {
      const own = isParent(request) ? 0 : 1
      most = Math.max(most, busy += own)
      await new Promise(resolve => { setImmediate(resolve) })
      busy -= own
      return lastMessage(request).role === 'tool' ? { text: 'Done.' } : { calls: five }
    })
    expect(await app.agent().run(parentTask)).toMatchObject({ stopReason: 'completed' })
    expect(started(app)).toBe(30)
    expect(most).toBeLessThanOrEqual(3)
  })
})

describe('a model that starts one child after another', () => {
  it('is stopped by the cap on starts', async () => {
    await using app = await App.start([{ provider: 'spawn' }], { subagents: { limits: { startsPerTree: 5 } } })
    let n = 0
    app.endpoint.respond(request => {
      if (!isParent(request)) return { text: 'Done.' }
      return contentOf(lastMessage(request)).startsWith('Error') ? { text: 'I do the rest myself.' } : { calls: [delegation(n++)] }
    })
    expect(await app.agent().run(parentTask)).toMatchObject({ stopReason: 'completed', output: [{ text: 'I do the rest myself.' }] })
    expect(started(app)).toBe(5)
    expect(results(app.endpoint.requests).at(-1)).toBe('Error: this tree of agents has started 5 children and may start 5 (limits.startsPerTree); none of this tree works now; do the rest of the task yourself')
  })

  it('is stopped by the cap on tokens', async () => {
    await using app = await App.start([{ provider: 'spawn' }], { subagents: { limits: { tokensPerTree: 1000 } } })
    let n = 0
    app.endpoint.respond(request => {
      if (!isParent(request)) return { text: 'Done.' }
      return contentOf(lastMessage(request)).startsWith('Error') ? { text: 'I finish.' } : { calls: [delegation(n++)] }
    })
    const agent = app.agent()
    expect(await agent.run(parentTask)).toMatchObject({ stopReason: 'completed' })
    // 120 tokens a request: the root's fifth passes the mark, with four children between.
    expect(started(app)).toBe(4)
    expect(results(app.endpoint.requests).at(-1)).toBe('Error: this tree of agents has used 1080 tokens and may use 1000 (limits.tokensPerTree); none of this tree works now; finish with what you have')
  })

  it('is stopped by its own step limit, where nothing else does', async () => {
    await using app = await App.start([{ provider: 'spawn' }], { agent: { maxSteps: 4 } })
    let n = 0
    app.endpoint.respond(request => isParent(request) && request.body['tool_choice'] !== 'none' ? { calls: [delegation(n++)] } : { text: 'What I have.' })
    expect(await app.agent().run(parentTask)).toMatchObject({ stopReason: 'max-steps', output: [{ text: 'What I have.' }] })
    expect(started(app)).toBe(4)
  })
})

it('a child over its tool\'s timeoutMs ends timeout, after it wrote down what it has; its parent reads exactly that', async () => {
  await using app = await App.start([{ provider: 'spawn', timeoutMs: 400 }])
  app.endpoint.respond(request => {
    if (isParent(request)) return lastMessage(request).role === 'tool' ? { text: 'ok' } : { calls: [delegation()] }
    return request.body['tool_choice'] === 'none' ? { text: 'Half of it.' } : { hold: new Promise(() => {}) }
  })
  await app.agent().run(parentTask)
  expect(app.ended[0]![1]).toMatchObject({ stopReason: 'timeout', output: [{ text: 'Half of it.' }], usage: { steps: 2, unreportedSteps: 1 } })
  expect(results(app.endpoint.requests)).toEqual(['Error: subagent run ended abnormally (timeout)'])
})

it('the endpoint\'s own records add up to the usage of the root and all below it, over three levels with aborts and failures', async () => {
  await using app = await App.start([{ provider: 'spawn', concurrency: 'parallel' }])
  const reported = { prompt: 0, completion: 0, cached: 0 }
  let unreported = 0
  let holding = 0
  let n = 0
  const held = gate()
  app.endpoint.respond(request => {
    const depth = messagesOf(request)[0]!.content === parentTask ? 0 : Number(/level (\d)/.exec(contentOf(messagesOf(request)[0]!))![1])
    const answered = lastMessage(request).role === 'tool'
    const kind = n++ % 4
    if (depth === 3 && kind === 0) { unreported++; return { status: 400, error: 'no' } }
    if (depth === 3 && kind === 1) { unreported++; holding++; held.open(); return { hold: new Promise(() => {}) } }
    const usage = { prompt_tokens: 10 + n, completion_tokens: n, total_tokens: 10 + 2 * n, prompt_tokens_details: { cached_tokens: n % 3 } }
    reported.prompt += usage.prompt_tokens
    reported.completion += usage.completion_tokens
    reported.cached += usage.prompt_tokens_details.cached_tokens
    if (depth === 3 || answered) return { text: 'Done.', usage, ...(kind === 2 ? { finishReason: 'length' } : {}) }
    return { calls: Array.from({ length: 3 }, (_, i) => ({ name: 'subagent', arguments: { description: `${i}`, prompt: `level ${depth + 1}` } })), usage }
  })
  const agent = app.agent()
  const turn = agent.run(parentTask)
  await held.opened
  // Until nothing is under way but the held requests and those that wait for them.
  while (leaves(app.ctx.subagents.tree(agent)) !== holding) await new Promise(resolve => { setImmediate(resolve) })
  agent.abort()
  expect((await turn).stopReason).toBe('aborted')
  const { total } = app.ctx.subagents.usage(agent)
  expect(total).toMatchObject({ inputTokens: reported.prompt, outputTokens: reported.completion, cachedInputTokens: reported.cached, unreportedSteps: unreported, steps: app.endpoint.requests.length })
  expect(app.ended.some(([, { stopReason }]) => stopReason === 'aborted')).toBe(true)
  expect(app.ended.some(([, { stopReason }]) => stopReason === 'error')).toBe(true)
})
