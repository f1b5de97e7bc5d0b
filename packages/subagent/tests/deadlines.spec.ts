import type { ModelStreamPart } from '@offshoot/model'
import { fakeModel } from '@offshoot/model/testing'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import type { Context } from 'cordis'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type SubagentService from '../src/index.ts'
import type { ProviderRun, SubagentRun } from '../src/index.ts'
import { pluginFor, SmallProvider } from './small-provider.ts'
import { type App, ended, gate, idleRun, never, provider, startApp } from './support.ts'

beforeEach(() => { vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }) })
afterEach(() => {
  const timers = vi.getTimerCount()
  vi.useRealTimers()
  if (timers > 0) throw new Error(`${timers} timers are left`)
})

const minutes = 60_000

/** An app whose provider `small` runs children in this process, with a tool that waits. */
async function smallApp(deadlines: NonNullable<SubagentService.Input['deadlines']>, reply: Parameters<typeof fakeModel>[0], more: SubagentService.Input = {}): Promise<App & { readonly quiet: ReturnType<typeof gate<string>> }> {
  const app = await startApp({ deadlines, ...more }, reply)
  await app.ctx.plugin(pluginFor(agents => new SmallProvider(agents)))
  const quiet = gate<string>()
  app.ctx.tools.register(defineTool({ name: 'wait', description: 'Waits.', parameters: Type.Object({}), execute: () => quiet.opened }))
  return { ...app, quiet }
}

/** A tool that hands `below` to a child and waits for it. */
function registerDelegate(ctx: Context): void {
  ctx.tools.register(defineTool({
    name: 'delegate', description: 'Delegates.', parameters: Type.Object({}),
    async execute(_args, { agent, callId, signal }) {
      await using run = await ctx.subagents.start('small', { prompt: 'below', parent: agent!, signal: signal!, tool: { name: 'delegate', callId } })
      return (await run.result).stopReason
    },
  }))
}

/** What became of `run` after `ms`; `undefined` while it runs. */
async function after(ms: number, run: SubagentRun): Promise<unknown> {
  let result: unknown
  void run.result.then(settled => { result = settled })
  await vi.advanceTimersByTimeAsync(ms)
  return result
}

describe('the silence of a model', () => {
  it('before its first word ends the child as timeout, at the time that the config says, and the next start is none the worse', async () => {
    let stalls = true
    const { start, events } = await smallApp({ firstTokenMs: 1000 }, () => stalls ? { hold: never } : 'ok')
    const run = await start('small')
    expect(await after(999, run)).toBeUndefined()
    expect(await after(1, run)).toMatchObject({ stopReason: 'timeout', diagnostic: 'the model said nothing for 1000 ms (deadlines.firstTokenMs)', output: [] })
    expect(events.at(-1)).toBe('end run-1 timeout')
    await run.dispose()
    stalls = false
    const next = await start('small')
    expect(await next.result).toMatchObject({ stopReason: 'completed' })
    await next.dispose()
  })

  it('in the midst of a reply does so too, and keeps what was said', async () => {
    const parts: ModelStreamPart[] = [{ type: 'text-delta', id: '0', delta: 'I was about to' }, { type: 'text-end', id: '0' }]
    const { start } = await smallApp({ idleMs: 1000 }, () => ({ parts, holdAfter: never }))
    await using run = await start('small')
    expect(await after(1000, run)).toMatchObject({
      stopReason: 'timeout', diagnostic: 'the model fell silent for 1000 ms (deadlines.idleMs)', output: [{ text: 'I was about to' }],
    })
  })

  it('is not broken by signs of life without content', async () => {
    const { ctx, start } = await smallApp({ firstTokenMs: 1000, idleMs: 1000 }, () => 'unused')
    ctx.models.register('beating', {
      ...fakeModel(() => ''),
      doStream: async ({ abortSignal }) => ({
        stream: new ReadableStream<ModelStreamPart>({
          async pull(controller) {
            await new Promise(resolve => { setTimeout(resolve, 100) })
            if (abortSignal!.aborted) controller.error(abortSignal!.reason)
            else controller.enqueue({ type: 'raw', rawValue: 'ping' })
          },
        }),
      }),
    })
    const agent = ctx.agents.create({ model: 'beating' })
    await using run = await start('small', { parent: agent, agentOptions: { model: 'beating' } })
    expect(await after(1100, run)).toMatchObject({ stopReason: 'timeout' })
    await vi.advanceTimersByTimeAsync(200)
    await agent.dispose()
  })

  it('is five minutes at most, by default', async () => {
    const { start } = await smallApp({}, () => ({ hold: never }))
    await using run = await start('small')
    expect(await after(5 * minutes - 1, run)).toBeUndefined()
    expect(await after(1, run)).toMatchObject({ stopReason: 'timeout' })
  })

  it('counts from its last word, not from the request', async () => {
    const word = gate()
    const { start } = await smallApp({ idleMs: 1000 }, () => ({ parts: [{ type: 'text-delta', id: '0', delta: 'a' }, { type: 'text-delta', id: '0', delta: 'b' }], holdAfter: word.opened.then(() => {}) }))
    await using run = await start('small')
    expect(await after(900, run)).toBeUndefined()
    word.open()
    // The fake model ends its stream without a finish, which is another failure than silence.
    expect(await after(200, run)).toMatchObject({ stopReason: 'error' })
  })
})

describe('what is no silence', () => {
  it('a tool that says nothing for half an hour', async () => {
    const { start, quiet } = await smallApp({ firstTokenMs: 1000, idleMs: 1000 }, (_request, index) => index === 0 ? { calls: [{ name: 'wait' }] } : 'Done.')
    await using run = await start('small')
    expect(await after(30 * minutes, run)).toBeUndefined()
    quiet.open('at last')
    expect(await after(0, run)).toMatchObject({ stopReason: 'completed', output: [{ text: 'Done.' }] })
  })

  it('a grandchild at work', async () => {
    const { ctx, start, quiet } = await smallApp({ firstTokenMs: 1000, idleMs: 1000 }, ({ prompt }) => {
      if (prompt.length > 2) return 'Done.'
      return { calls: [{ name: JSON.stringify(prompt[1]).includes('below') ? 'wait' : 'delegate' }] }
    })
    registerDelegate(ctx)
    await using run = await start('small')
    expect(await after(30 * minutes, run)).toBeUndefined()
    quiet.open('at last')
    expect(await after(0, run)).toMatchObject({ stopReason: 'completed' })
  })

  it('a child that waits for a slot to go on', async () => {
    const asked = gate()
    const answered = gate()
    const { ctx, start, quiet } = await smallApp({ firstTokenMs: 10 * minutes, idleMs: 1000 }, ({ prompt }) => {
      const task = JSON.stringify(prompt[1])
      if (prompt.length > 2) return 'Done.'
      if (task.includes('below')) {
        asked.open()
        return { text: 'Done.', hold: answered.opened }
      }
      return { calls: [{ name: task.includes('sibling') ? 'wait' : 'delegate' }] }
    }, { limits: { concurrentPerTree: 1 } })
    registerDelegate(ctx)
    await using run = await start('small', { label: 'first' })
    await asked.opened
    const sibling = start('small', { prompt: 'sibling' })
    answered.open()
    expect(await after(9 * minutes, run)).toBeUndefined()
    expect(ctx.subagents.tree()).toMatchObject([{ label: 'first', waitsFor: 'slot' }, { waitsFor: 'tools' }])
    quiet.open('at last')
    expect(await after(0, run)).toMatchObject({ stopReason: 'completed' })
    await (await sibling).dispose()
  })
})

describe('the time that a child has in all', () => {
  it('ends with a request without tools, for what it has by then', async () => {
    const { model, start, quiet } = await smallApp({ timeoutMs: 10_000, wrapUpMs: 1000 }, (_request, index) => index === 0 ? { text: 'Looking.', calls: [{ name: 'wait' }] } : 'Half of it.')
    await using run = await start('small')
    expect(await after(8999, run)).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    quiet.open('too late')
    expect(await after(0, run)).toMatchObject({
      stopReason: 'timeout', output: [{ text: 'Half of it.' }], steps: 2, diagnostic: 'the child did not end within 10000 ms (timeoutMs)',
    })
    expect(model.requests[1]!.toolChoice).toEqual({ type: 'none' })
  })

  it('is over when that request takes too long as well', async () => {
    const { start } = await smallApp({ timeoutMs: 10_000, wrapUpMs: 1000 }, () => ({ hold: never }))
    await using run = await start('small')
    expect(await after(9999, run)).toBeUndefined()
    expect(await after(1, run)).toMatchObject({ stopReason: 'timeout', output: [] })
  })

  it.each([
    ['the request\'s, where that is stricter', 2000, { timeoutMs: 500 }, 500],
    ['the app\'s, where that is stricter', 500, { timeoutMs: 2000 }, 500],
    ['the request\'s, where the app has none', undefined, { timeoutMs: 500 }, 500],
  ])('is %s', async (_what, own, request, expected) => {
    const { ctx, start } = await startApp({ deadlines: own === undefined ? {} : { timeoutMs: own } })
    ctx.subagents.registerProvider(provider('one', ({ signal }) => idleRun({ result: new Promise(resolve => { signal.addEventListener('abort', () => { resolve(ended('aborted')) }) }) })))
    const run = await start('one', request)
    expect(await after(expected - 1, run)).toBeUndefined()
    expect(await after(1, run)).toMatchObject({ stopReason: 'timeout' })
    await run.dispose()
  })

  it('ends a child that ignores its abort all the same, within disposeGraceMs, and frees its slot', async () => {
    const { ctx, start } = await startApp({ deadlines: { timeoutMs: 1000 }, disposeGraceMs: 300, limits: { concurrentPerTree: 1 } })
    ctx.subagents.registerProvider(provider('one', () => idleRun({ result: never, dispose: () => never })))
    const run = await start('one')
    expect(await after(1299, run)).toBeUndefined()
    expect(await after(1, run)).toMatchObject({ stopReason: 'timeout', diagnostic: 'the child did not end within 1000 ms (timeoutMs); it did not stop' })
    const disposed = run.dispose().catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(300)
    expect(await disposed).toMatchObject({ code: 'DISPOSE_FAILED' })
    const next = await start('one')
    expect(next.id).toBe('run-2')
    await vi.advanceTimersByTimeAsync(1300)
  })

  it('changes nothing of a child that ended just in time', async () => {
    const { start, quiet } = await smallApp({ timeoutMs: 10_000, wrapUpMs: 0 }, (_request, index) => index === 0 ? { calls: [{ name: 'wait' }] } : 'Done.')
    await using run = await start('small')
    await vi.advanceTimersByTimeAsync(9999)
    quiet.open('in time')
    expect(await after(1, run)).toMatchObject({ stopReason: 'completed' })
  })

  it.each([0, 1.5, -1])('is refused as %s', async timeoutMs => {
    const { ctx, start } = await startApp()
    ctx.subagents.registerProvider(provider('one'))
    await expect(start('one', { timeoutMs })).rejects.toMatchObject({ code: 'INVALID_REQUEST', message: `timeoutMs must be a whole number of milliseconds from 1, not ${timeoutMs}` })
  })
})

describe('the time that a start has', () => {
  it('is bounded: it is cancelled, refused, and a child that comes after all is disposed of', async () => {
    const { ctx, start, events } = await startApp({ deadlines: { startMs: 1000 }, limits: { concurrentPerTree: 1 } })
    const handing = gate<ProviderRun>()
    let signal: AbortSignal | undefined
    ctx.subagents.registerProvider(provider('slow', request => { signal = request.signal; return handing.opened }))
    const refused = start('slow').catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await refused).toMatchObject({ code: 'START_TIMEOUT', message: 'subagent provider "slow" made no child within 1000 ms (deadlines.startMs)' })
    expect(signal!.aborted).toBe(true)
    expect(events).toEqual(['added slow'])
    const dispose = vi.fn(() => Promise.resolve())
    handing.open(idleRun({ dispose }))
    await vi.advanceTimersByTimeAsync(0)
    expect(dispose).toHaveBeenCalledOnce()
    ctx.subagents.registerProvider(provider('one'))
    expect((await start('one')).id).toBe('run-2')
  })

  it('ends disposeGraceMs after an abort that the provider ignores', async () => {
    const { ctx, start } = await startApp({ disposeGraceMs: 300 })
    ctx.subagents.registerProvider(provider('deaf', () => never))
    const cancel = new AbortController()
    const refused = start('deaf', { signal: cancel.signal }).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(10)
    cancel.abort(new Error('enough'))
    await vi.advanceTimersByTimeAsync(300)
    expect(await refused).toMatchObject({ code: 'ABORTED', message: expect.stringContaining('enough') })
  })
})
