import type { RunOptions } from '@offshoot/agent'
import { messagesOf, toolsOf } from '@offshoot/model-ai-sdk/testing'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { App, delegateOnce, gate, isParent, lastMessage, parentTask, taskTools, toolResult } from './support.ts'

const delegation = { name: 'subagent', arguments: { description: 'deeper', prompt: 'Delegate this.' } }

describe('delegation depth', () => {
  it('stops a model that always delegates at the default of 3, and tells it to do the work itself', async () => {
    await using app = await App.start()
    app.endpoint.respond(request => lastMessage(request).role === 'tool' ? { text: lastMessage(request).content as string } : { calls: [delegation] })
    const result = await app.agent().run(parentTask)
    expect(result.stopReason).toBe('completed')
    expect(app.ended.map(([{ depth }]) => depth)).toEqual([3, 2, 1])
    expect(toolResult(app.endpoint)).toBe('Error: a child would be at delegation depth 4, and the limit is 3 (maxDepth); do the task yourself')
  })

  it('of 0 forbids it', async () => {
    await using app = await App.start([{ provider: 'spawn' }], { subagents: { maxDepth: 0 } })
    delegateOnce(app.endpoint, { text: 'never' })
    await app.agent().run(parentTask)
    expect(toolResult(app.endpoint)).toBe('Error: delegation is switched off here (maxDepth 0); do the task yourself')
    expect(app.ended).toEqual([])
  })

  it('of a tool is absolute: it counts from the root, not from the caller', async () => {
    await using app = await App.start([{ provider: 'spawn', maxDepth: 1 }])
    app.endpoint.respond(request => lastMessage(request).role === 'tool' ? { text: lastMessage(request).content as string } : { calls: [delegation] })
    await app.agent().run(parentTask)
    expect(app.ended.map(([{ depth }]) => depth)).toEqual([1])
    expect(toolResult(app.endpoint)).toMatch(/delegation depth 2, and the limit is 1/)
  })

  it('of a tool can only be stricter than the app\'s', async () => {
    await using app = await App.start([{ provider: 'spawn', maxDepth: 9 }], { subagents: { maxDepth: 1 } })
    app.endpoint.respond(request => lastMessage(request).role === 'tool' ? { text: 'ok' } : { calls: [delegation] })
    await app.agent().run(parentTask)
    expect(app.ended.map(([{ depth }]) => depth)).toEqual([1])
  })
})

describe('a tool filter', () => {
  async function childSees(toolFilter?: { allow?: string[], deny?: string[] }): Promise<string[]> {
    await using app = await App.start([{ provider: 'spawn', ...(toolFilter ? { toolFilter } : {}) }])
    for (const name of ['alpha', 'beta', 'gamma']) {
      app.ctx.tools.register(defineTool({ name, description: name, parameters: Type.Object({}), execute: () => name }))
    }
    delegateOnce(app.endpoint, { text: 'ok' })
    await app.agent().run(parentTask)
    return toolsOf(app.endpoint.requests.find(request => !isParent(request))!)
  }

  it('that is absent hides nothing', async () => {
    expect(await childSees()).toEqual(['alpha', 'beta', 'gamma', 'subagent', ...taskTools])
  })

  it('with an empty "allow" hides everything', async () => {
    expect(await childSees({ allow: [] })).toEqual([])
  })

  it('with "deny" alone hides those', async () => {
    expect(await childSees({ deny: ['beta', 'subagent'] })).toEqual(['alpha', 'gamma', ...taskTools])
  })

  it('with both hides what is denied among the allowed', async () => {
    expect(await childSees({ allow: ['alpha', 'beta'], deny: ['beta'] })).toEqual(['alpha'])
  })

  it('also refuses the execution, and does not say that the tool exists', async () => {
    await using app = await App.start([{ provider: 'spawn', toolFilter: { allow: ['alpha'] } }])
    const ran: string[] = []
    for (const name of ['alpha', 'beta']) {
      app.ctx.tools.register(defineTool({ name, description: name, parameters: Type.Object({}), execute: () => { ran.push(name); return name } }))
    }
    delegateOnce(app.endpoint, (_request, index) => index === 0 ? { calls: [{ name: 'beta', arguments: {} }, { name: 'alpha', arguments: {} }] } : { text: 'ok' })
    await app.agent().run(parentTask)
    const child = app.endpoint.requests.filter(request => !isParent(request)).at(-1)!
    expect(messagesOf(child).slice(-2).map(({ content }) => content)).toEqual(['Error: unknown tool "beta" (tools: alpha)', 'alpha'])
    expect(ran).toEqual(['alpha'])
  })

  it('does not reach grandchildren', async () => {
    await using app = await App.start([{ provider: 'spawn', toolFilter: { deny: ['alpha'] } }, { provider: 'spawn', toolName: 'free' }])
    app.ctx.tools.register(defineTool({ name: 'alpha', description: 'a', parameters: Type.Object({}), execute: () => 'a' }))
    app.endpoint.respond(request => {
      if (lastMessage(request).role === 'tool') return { text: 'ok' }
      if (isParent(request)) return { calls: [delegation] }
      return lastMessage(request).content === 'Delegate this.' ? { calls: [{ name: 'free', arguments: { description: 'd', prompt: 'Deepest.' } }] } : { text: 'ok' }
    })
    await app.agent().run(parentTask)
    const [child, grandchild] = ['Delegate this.', 'Deepest.'].map(prompt => app.endpoint.requests.find(request => lastMessage(request).content === prompt)!)
    expect(toolsOf(child!)).toEqual(['free', 'subagent', ...taskTools])
    expect(toolsOf(grandchild!)).toEqual(['alpha', 'free', 'subagent', ...taskTools])
  })
})

describe('sibling calls', () => {
  const siblings = ['first', 'second', 'third']

  /** The parent calls `tool` once per sibling in one step. */
  async function runSiblings(app: App, tool: (i: number) => string, child: (prompt: string) => Promise<string>, options?: RunOptions): Promise<string[]> {
    app.endpoint.respond(async request => {
      if (!isParent(request)) return { text: await child(lastMessage(request).content as string) }
      if (lastMessage(request).role === 'tool') return { text: 'done' }
      return { calls: siblings.map((prompt, i) => ({ name: tool(i), arguments: { description: prompt, prompt } })) }
    })
    await app.agent().run(parentTask, options)
    const last = app.endpoint.requests.filter(isParent).at(-1)!
    return messagesOf(last).filter(({ role }) => role === 'tool').map(({ content }) => content as string)
  }

  it('of a parallel tool overlap, and their results come in the model\'s order', async () => {
    await using app = await App.start([{ provider: 'spawn', concurrency: 'parallel' }])
    const all = gate()
    const ended: string[] = []
    let started = 0
    const release = siblings.map(() => gate())
    const results = await runSiblings(app, () => 'subagent', async prompt => {
      if (++started === siblings.length) all.open()
      await all.opened
      // The last called answers first.
      const i = siblings.indexOf(prompt)
      if (i < siblings.length - 1) await release[i + 1]!.opened
      ended.push(prompt)
      release[i]!.open()
      return `${prompt} answered`
    })
    expect(ended).toEqual(['third', 'second', 'first'])
    expect(results).toEqual(['first answered', 'second answered', 'third answered'])
  })

  it('of an exclusive tool never overlap', async () => {
    await using app = await App.start()
    let running = 0
    let most = 0
    app.ctx.on('subagent/start', () => { most = Math.max(most, ++running) })
    app.ctx.on('subagent/end', () => { running-- })
    expect(await runSiblings(app, () => 'subagent', async prompt => prompt)).toEqual(siblings)
    expect(most).toBe(1)
  })

  it('that are exclusive are a barrier between parallel ones', async () => {
    await using app = await App.start([{ provider: 'spawn', toolName: 'par', concurrency: 'parallel' }, { provider: 'spawn', toolName: 'exc' }])
    const order: string[] = []
    app.ctx.on('subagent/start', ({ label }) => { order.push(`+${label}`) })
    app.ctx.on('subagent/end', ({ label }) => { order.push(`-${label}`) })
    await runSiblings(app, i => i === 1 ? 'exc' : 'par', async prompt => prompt)
    expect(order).toEqual(['+first', '-first', '+second', '-second', '+third', '-third'])
  })

  it('keep what they found when one of them fails', async () => {
    await using app = await App.start([{ provider: 'spawn', concurrency: 'parallel' }])
    const results = await runSiblings(app, () => 'subagent', async prompt => {
      if (prompt === 'second') throw new Error('broken')
      return prompt
    })
    expect(results).toEqual(['first', 'Error: subagent run failed', 'third'])
  })
})
