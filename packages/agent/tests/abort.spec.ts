import type { LanguageModel, ModelStream, ModelStreamPart } from '@offshoot/model'
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Agent, AgentEvent } from '../src/index.ts'
import { type App, expectBalanced, finish, gate, never, start, streamingAs, tool, transcript } from './support.ts'

const delta = (text: string): ModelStreamPart => ({ type: 'text-delta', id: 't', delta: text })

/** A model that does exactly this, and knows nothing of its signal. */
function deaf(doStream: LanguageModel['doStream']): LanguageModel {
  return { specificationVersion: 'v3', provider: 'deaf', modelId: 'deaf', doStream }
}

/** A stream of `parts` that then stays open for ever. */
function endless(parts: readonly ModelStreamPart[], onCancel?: () => void): ReadableStream<ModelStreamPart> {
  return new ReadableStream({
    start(controller) { for (const part of parts) controller.enqueue(part) },
    ...(onCancel ? { cancel: onCancel } : {}),
  })
}

/** Run a turn on `model` and abort it when an event `matches`: it ends, and nothing of it is left. */
async function expectAborted({ ctx }: App, matches: (event: AgentEvent) => boolean, model?: LanguageModel): Promise<{ agent: Agent, result: Awaited<ReturnType<Agent['run']>> }> {
  if (model) ctx.models.register('deaf', model)
  const controller = new AbortController()
  const agent = ctx.agents.create(model ? { model: 'deaf' } : {})
  agent.on(event => { if (matches(event)) controller.abort(new Error('the person left')) })
  const result = await agent.run('Go.', { signal: controller.signal })
  expect(result).toMatchObject({ stopReason: 'aborted', diagnostic: 'the person left' })
  expect(agent.state).toBe('idle')
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  expectBalanced(agent.session)
  return { agent, result }
}

describe('an abort ends the turn and leaves a balanced log', () => {
  it('before it began: no request is made', async () => {
    const { ctx, model } = await start(['never'])
    const agent = ctx.agents.create()
    const result = await agent.run('Go.', { signal: AbortSignal.abort(new Error('too late')) })
    expect(result).toMatchObject({ stopReason: 'aborted', diagnostic: 'too late', output: [], steps: 0, usage: { steps: 0, toolCalls: 0 } })
    expect(model.requests).toEqual([])
    expect(transcript(agent.session)).toEqual(['user: Go.'])
  })

  it('as it begins', async () => {
    const app = await start(['never'])
    const { result } = await expectAborted(app, ({ type }) => type === 'turn-start')
    expect(result.steps).toBe(0)
    expect(app.model.requests).toEqual([])
  })

  it('as a step begins: no request is made', async () => {
    const app = await start(['never'])
    await expectAborted(app, ({ type }) => type === 'step-start')
    expect(app.model.requests).toEqual([])
  })

  it('while the model opens its stream', async () => {
    const { ctx } = await start(() => ({ hold: never }))
    const agent = ctx.agents.create()
    const turn = agent.run('Go.')
    agent.abort(new Error('enough'))
    expect(await turn).toMatchObject({ stopReason: 'aborted', diagnostic: 'enough', steps: 1 })
  })

  it('while a model that ignores it opens its stream, which is closed unread when it comes', async () => {
    const { ctx } = await start()
    const opening = gate()
    const closed = gate()
    ctx.models.register('deaf', deaf(async () => {
      await opening.opened
      return { stream: endless([delta('late')], closed.open) }
    }))
    const agent = ctx.agents.create({ model: 'deaf' })
    const turn = agent.run('Go.')
    agent.abort()
    expect((await turn).stopReason).toBe('aborted')
    opening.open()
    await closed.opened
    expect(transcript(agent.session)).toEqual(['user: Go.'])
  })

  it('from within a model that is asked, and then never answers', async () => {
    const { ctx } = await start()
    ctx.models.register('deaf', deaf(() => {
      agent.abort()
      return never
    }))
    const agent = ctx.agents.create({ model: 'deaf' })
    expect((await agent.run('Go.')).stopReason).toBe('aborted')
  })

  it('at the moment at which a stream has opened and is not read yet', async () => {
    const { ctx } = await start()
    for (let hops = 0; hops < 8; hops++) {
      const aborting = ctx.models.register('deaf', deaf(() => {
        const opening = Promise.resolve({ stream: endless([]) })
        let later: Promise<unknown> = opening
        for (let i = 0; i < hops; i++) later = later.then(() => {})
        void later.then(() => { agent.abort() })
        return opening
      }))
      const agent = ctx.agents.create({ model: 'deaf' })
      expect((await agent.run('Go.')).stopReason).toBe('aborted')
      aborting()
    }
  })

  it('in the middle of the text: what was written is kept, and is no answer', async () => {
    const app = await start([{ text: 'Half an answer', holdAfter: never }, { parts: [delta('Half'), delta(' more'), finish()] }])
    const { agent, result } = await expectAborted(app, ({ type }) => type === 'step-start')
    expect(result.output).toEqual([])
    const other = await expectAborted(await start([{ parts: [delta('Half'), delta(' more'), finish()] }]), ({ type }) => type === 'text-delta')
    expect(other.result.output).toEqual([{ type: 'text', text: 'Half' }])
    expect(transcript(other.agent.session)).toEqual(['user: Go.', 'assistant: Half'])
    expect(transcript(agent.session)).toEqual(['user: Go.'])
  })

  it('in the middle of a stream whose model ignores it: the stream is cancelled', async () => {
    const cancelled = gate()
    const { agent } = await expectAborted(await start(), ({ type }) => type === 'text-delta', deaf(async () => ({ stream: endless([delta('Half')], cancelled.open) })))
    await cancelled.opened
    expect(transcript(agent.session)).toEqual(['user: Go.', 'assistant: Half'])
  })

  it.each<[string, () => unknown]>([
    ['is waited for no longer', () => Promise.resolve({ done: true })],
    ['never returns', () => never],
    ['fails to return', () => Promise.reject(new Error('no'))],
    ['throws at being returned', () => { throw new Error('no') }],
    ['returns no promise', () => ({ done: true })],
  ])('in the middle of an async iterable, deaf, that %s', async (_what, end) => {
    let returned = 0
    let sent = 0
    const iterator = {
      next: () => sent++ === 0 ? Promise.resolve({ value: delta('Half'), done: false }) : never,
      return: () => {
        returned++
        return end()
      },
    }
    const stream = { [Symbol.asyncIterator]: () => iterator } as unknown as ModelStream
    const { agent } = await expectAborted(await start(), ({ type }) => type === 'text-delta', deaf(async () => ({ stream })))
    expect(returned).toBe(1)
    expect(transcript(agent.session)).toEqual(['user: Go.', 'assistant: Half'])
  })

  it('in the middle of an async generator: its cleanup runs', async () => {
    const cleaned = gate()
    const app = await start([{ parts: [delta('Half'), delta(' more'), finish()] }])
    await expectAborted(app, ({ type }) => type === 'text-delta', streamingAs(app.model, async function* (parts) {
      try {
        yield* parts
      } finally {
        cleaned.open()
      }
    }))
    await cleaned.opened
  })

  it('in the middle of reasoning: half a thought is not kept', async () => {
    const { agent } = await expectAborted(await start([{ reasoning: 'Hm', text: 'Never' }]), ({ type }) => type === 'reasoning-delta')
    expect(transcript(agent.session)).toEqual(['user: Go.'])
  })

  it('after the model called tools and before its reply ended: the calls are dropped', async () => {
    const { ctx } = await start()
    let ran = 0
    ctx.tools.register(tool('look', { execute: () => `${++ran}` }))
    ctx.models.register('deaf', deaf(async () => ({
      stream: new ReadableStream({
        async pull(controller) {
          controller.enqueue({ type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{}' })
          agent.abort()
          await never
        },
      }, { highWaterMark: 0 }),
    })))
    const agent = ctx.agents.create({ model: 'deaf' })
    expect((await agent.run('Go.')).stopReason).toBe('aborted')
    expect(ran).toBe(0)
    expect(transcript(agent.session)).toEqual(['user: Go.'])
  })

  it('while a tool runs: it is told, awaited, and its result kept', async () => {
    const app = await start([{ calls: [{ name: 'wait' }] }, 'never'])
    app.ctx.tools.register(tool('wait', {
      execute: (_args, { signal }) => new Promise((_resolve, reject) => { signal!.addEventListener('abort', () => { reject(signal!.reason as Error) }, { once: true }) }),
    }))
    const controller = new AbortController()
    const agent = app.ctx.agents.create()
    agent.on(({ type }) => { if (type === 'tool-start') queueMicrotask(() => { controller.abort(new Error('enough')) }) })
    expect(await agent.run('Go.', { signal: controller.signal })).toMatchObject({ stopReason: 'aborted', steps: 1 })
    expect(transcript(agent.session).at(-1)).toBe('tool: Error: enough')
    expectBalanced(agent.session)
  })

  it('while a tool that ignores it runs: the turn ends no sooner than the tool', async () => {
    const { ctx } = await start([{ calls: [{ name: 'slow' }] }])
    const running = gate()
    const release = gate()
    ctx.tools.register(tool('slow', { execute: async () => { running.open(); await release.opened; return 'at last' } }))
    const agent = ctx.agents.create()
    const turn = agent.run('Go.')
    await running.opened
    agent.abort()
    expect(agent.state).toBe('running')
    release.open()
    expect((await turn).stopReason).toBe('aborted')
    expect(transcript(agent.session).at(-1)).toBe('tool: at last')
  })

  it.each([
    ['between exclusive calls', {}, 10],
    ['between parallel calls that wait for a lane', { concurrency: 'parallel' as const }, 1],
  ])('%s: those that have not begun are answered and not run', async (_what, parts, maxParallelTools) => {
    const app = await start([{ calls: [{ name: 'look' }, { name: 'look' }, { name: 'look' }] }], { maxParallelTools })
    let ran = 0
    app.ctx.tools.register(tool('look', { ...parts, execute: () => `${++ran}` }))
    const { agent, result } = await expectAborted(app, event => event.type === 'tool-end')
    expect(ran).toBe(1)
    expect(transcript(agent.session).at(-1)).toBe('tool: 1 Error: the call was cancelled before it ran Error: the call was cancelled before it ran')
    expect(result.usage.toolCalls).toBe(1)
  })

  it('at whatever event it comes', async () => {
    const script = [{ reasoning: 'Hm.', text: 'Look:', calls: [{ name: 'par' }, { name: 'par' }, { name: 'exc' }, { name: 'none', args: '[' }] }, {}, 'Done.']
    const run = async (abortAfter: number): Promise<number> => {
      const { ctx } = await start(script)
      ctx.tools.register(tool('par', { concurrency: 'parallel', execute: (_args, { progress }) => { progress?.('half'); return 'ok' } }))
      ctx.tools.register(tool('exc'))
      const agent = ctx.agents.create()
      let events = 0
      const off = agent.on(() => { if (++events === abortAfter) agent.abort() })
      const { stopReason } = await agent.run('Go.')
      off()
      expect(stopReason).toBe(abortAfter > 0 && abortAfter < events ? 'aborted' : 'completed')
      expectBalanced(agent.session)
      expect((await agent.run('Again.')).stopReason).toMatch(/completed|empty-output/)
      expectBalanced(agent.session)
      return events
    }
    const events = await run(0)
    for (let i = 1; i <= events; i++) await run(i)
  })
})

describe('abort()', () => {
  it('on an idle agent does nothing, and costs the next turn nothing', async () => {
    const { ctx } = await start(['ok'])
    const agent = ctx.agents.create()
    agent.abort()
    expect((await agent.run('Go.')).stopReason).toBe('completed')
  })

  it('may come twice; the first reason stands', async () => {
    const { ctx } = await start(() => ({ hold: never }))
    const agent = ctx.agents.create()
    const turn = agent.run('Go.')
    agent.abort(new Error('first'))
    agent.abort(new Error('second'))
    expect((await turn).diagnostic).toBe('first')
  })
})
