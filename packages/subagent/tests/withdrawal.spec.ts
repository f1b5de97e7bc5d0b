import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ProviderRun, ProviderStartRequest } from '../src/index.ts'
import { pluginFor } from './small-provider.ts'
import { ended, gate, idleRun, never, provider, startApp, turnOfTheLoop } from './support.ts'

afterEach(() => { vi.unstubAllGlobals() })

const withdrawn = { name: 'SubagentError', code: 'ABORTED', message: 'the start of a child with "one" was cancelled: the provider was removed' }

/** Rejects when `signal` aborts, as a provider's startup should. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => { signal.addEventListener('abort', () => { reject(signal.reason as Error) }, { once: true }) })
}

describe('removing a provider while a start is pending', () => {
  it('aborts the signal of its request, and the caller gets ABORTED; there is no child and no event', async () => {
    const { ctx, start, events } = await startApp()
    let signal: AbortSignal | undefined
    const remove = ctx.subagents.registerProvider(provider('one', request => untilAborted(signal = request.signal)))
    const starting = start('one')
    const removing = remove()
    expect(signal!.aborted).toBe(true)
    expect(signal!.reason).toMatchObject({ code: 'ABORTED', message: 'subagent provider "one" was removed while the child started' })
    await expect(starting).rejects.toMatchObject({ name: 'SubagentError', code: 'ABORTED' })
    await removing
    expect(events).toEqual(['added one', 'removed one'])
    expect(ctx.subagents.tree()).toEqual([])
  })

  it('is what unloading its plugin does, and the plugin is gone only when the start is', async () => {
    const { ctx, start } = await startApp()
    const order: string[] = []
    const cleaning = gate()
    const plugin = ctx.plugin(pluginFor(() => provider('one', async request => {
      await untilAborted(request.signal).catch(() => {})
      await cleaning.opened
      order.push('cleaned up')
      throw new Error('cancelled')
    })))
    await plugin
    const starting = start('one').catch((error: unknown) => { order.push((error as { code: string }).code) })
    const unloading = plugin.dispose().then(() => { order.push('unloaded') })
    await turnOfTheLoop()
    expect(order).toEqual([])
    cleaning.open()
    await Promise.all([starting, unloading])
    expect(order).toEqual(['cleaned up', 'ABORTED', 'unloaded'])
  })

  it('shows a provider that looks at the signal only later that it has aborted', async () => {
    const { ctx, start } = await startApp()
    const connected = gate()
    const remove = ctx.subagents.registerProvider(provider('one', async request => {
      await connected.opened
      request.signal.throwIfAborted()
      return idleRun()
    }))
    const starting = start('one')
    const removing = remove()
    connected.open()
    await expect(starting).rejects.toMatchObject({ code: 'ABORTED', message: 'subagent provider "one" was removed while the child started' })
    await removing
  })

  it('disposes a child that is handed over all the same, before the removal is done; its result may reject unseen', async () => {
    const { ctx, start, events } = await startApp()
    const handing = gate<ProviderRun>()
    const disposing = gate()
    const gone = gate()
    const result = gate<never>()
    const remove = ctx.subagents.registerProvider(provider('one', () => handing.opened))
    const order: string[] = []
    const starting = start('one').catch((error: unknown) => { order.push('refused'); return error })
    const removing = remove().then(() => { order.push('removed') })
    handing.open({ result: result.opened, dispose: async () => { disposing.open(); await gone.opened; order.push('disposed') } })
    await disposing.opened
    result.fail(new Error('killed'))
    await turnOfTheLoop()
    expect(order).toEqual([])
    gone.open()
    await removing
    expect(await starting).toMatchObject(withdrawn)
    expect(order[0]).toBe('disposed')
    expect(order).toContain('removed')
    expect(events).toEqual(['added one', 'removed one'])
    expect(ctx.subagents.tree()).toEqual([])
  })

  it('logs a child that then cannot be disposed, and still refuses the caller', async () => {
    const { ctx, start, logged } = await startApp()
    const handing = gate<ProviderRun>()
    const remove = ctx.subagents.registerProvider(provider('one', () => handing.opened))
    const starting = start('one')
    const removing = remove()
    handing.open(idleRun({ dispose: () => Promise.reject(new Error('stuck')) }))
    await expect(starting).rejects.toMatchObject(withdrawn)
    await removing
    expect(logged).toEqual([new Error('stuck')])
  })

  it('at whatever moment it comes, either refuses the caller and leaves no child, or comes after the child was announced', async () => {
    const seen = new Set<string>()
    for (let hops = 0; hops < 12; hops++) {
      const { ctx, start, events } = await startApp()
      let disposed = 0
      const remove = ctx.subagents.registerProvider(provider('one', () => idleRun({ dispose: async () => { disposed++ } })))
      const starting = start('one').catch((error: unknown) => error as { code: string })
      for (let i = 0; i < hops; i++) await Promise.resolve()
      await remove()
      const outcome = await starting
      if ('code' in outcome) {
        seen.add('refused')
        expect(outcome).toMatchObject(withdrawn)
        expect(disposed).toBe(1)
        expect(events).toEqual(['added one', 'removed one'])
      } else {
        seen.add('handed over')
        expect(events).toEqual(['added one', 'start run-1', 'removed one'])
        expect(disposed).toBe(0)
        await outcome.dispose()
      }
    }
    expect(seen).toEqual(new Set(['refused', 'handed over']))
  })

  it('does not wait longer than disposeGraceMs for a start that does not end, and says so in the log', async () => {
    const { ctx, start, logged } = await startApp({ disposeGraceMs: 500 })
    const remove = ctx.subagents.registerProvider(provider('one', () => never))
    const starting = start('one').catch((error: unknown) => error)
    vi.useFakeTimers()
    try {
      let removed = false
      const removing = remove().then(() => { removed = true })
      await vi.advanceTimersByTimeAsync(499)
      expect(removed).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      await removing
      expect(await starting).toMatchObject({ code: 'ABORTED' })
      expect(logged).toContainEqual(expect.objectContaining({ code: 'ABORTED', message: expect.stringContaining('the start of a child with "one" was cancelled') }))
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('leaves starts of other providers alone', async () => {
    const { ctx, start } = await startApp()
    const remove = ctx.subagents.registerProvider(provider('one'))
    const handing = gate<ProviderRun>()
    ctx.subagents.registerProvider(provider('two', () => handing.opened))
    const starting = start('two')
    await remove()
    handing.open(idleRun())
    expect((await starting).provider).toBe('two')
  })
})

it('a child that was handed over is its caller\'s: removing its provider neither ends it nor aborts its signal', async () => {
  const { ctx, start, events } = await startApp()
  let signal: AbortSignal | undefined
  const finishing = gate<ReturnType<typeof ended>>()
  const remove = ctx.subagents.registerProvider(provider('one', request => { ({ signal } = request); return idleRun({ result: finishing.opened }) }))
  const run = await start('one')
  await remove()
  expect(signal!.aborted).toBe(false)
  await expect(start('one')).rejects.toMatchObject({ code: 'NO_PROVIDER' })
  finishing.open(ended('completed', 'Done.'))
  expect((await run.result).stopReason).toBe('completed')
  await run.dispose()
  expect(events).toEqual(['added one', 'start run-1', 'removed one', 'end run-1 completed'])
})

describe('the signal of a provider\'s request', () => {
  it('aborts with the caller\'s, for its reason, in startup and while the child runs', async () => {
    const { ctx, start } = await startApp()
    const signals: AbortSignal[] = []
    ctx.subagents.registerProvider(provider('pending', request => untilAborted(request.signal)))
    ctx.subagents.registerProvider(provider('running', request => { signals.push(request.signal); return idleRun() }))
    const controller = new AbortController()
    const starting = start('pending', { signal: controller.signal })
    await start('running', { signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(starting).rejects.toMatchObject({ code: 'ABORTED', message: 'the start of a child with "pending" was cancelled: enough' })
    expect(signals[0]!.reason).toEqual(new Error('enough'))
  })

  it('is the same at each reading, is not the caller\'s, and stays in a copy of the request', async () => {
    const { ctx, start } = await startApp()
    const requests: ProviderStartRequest[] = []
    ctx.subagents.registerProvider(provider('one', request => { requests.push(request, { ...request }); return idleRun() }))
    const controller = new AbortController()
    await start('one', { signal: controller.signal })
    const [request, copy] = requests
    expect(request!.signal).toBe(request!.signal)
    expect(copy!.signal).toBe(request!.signal)
    expect(request!.signal).not.toBe(controller.signal)
    expect([request!.callerSignal, copy!.callerSignal]).toEqual([controller.signal, controller.signal])
    controller.abort()
    expect(copy!.signal.aborted).toBe(true)
  })

  it('is made only for a provider that asks for it: one that uses the caller\'s costs no controller and no listener', async () => {
    const { ctx, start } = await startApp()
    let made = 0
    const { AbortController: Original } = globalThis
    const { signal } = new Original()
    ctx.subagents.registerProvider(provider('asks not', request => { expect(request.callerSignal).toBe(signal); return idleRun() }))
    ctx.subagents.registerProvider(provider('asks', request => { expect(request.signal.aborted).toBe(false); return idleRun() }))
    vi.stubGlobal('AbortController', class extends Original { constructor() { super(); made++ } })
    await start('asks not', { signal })
    expect([made, getEventListeners(signal, 'abort').length]).toEqual([0, 0])
    await start('asks', { signal })
    expect([made, getEventListeners(signal, 'abort').length]).toEqual([1, 1])
  })

  it('leaves no listener on the caller\'s once the run has ended, also for a provider that looks at it only then', async () => {
    const { ctx, start } = await startApp()
    const requests: ProviderStartRequest[] = []
    ctx.subagents.registerProvider(provider('early', request => { requests.push(request); void request.signal; return idleRun({ result: Promise.resolve(ended('completed', 'x')) }) }))
    ctx.subagents.registerProvider(provider('late', request => { requests.push(request); return idleRun({ result: Promise.resolve(ended('completed', 'x')) }) }))
    ctx.subagents.registerProvider(provider('failing', request => { requests.push(request); void request.signal; throw new Error('no') }))
    const controller = new AbortController()
    for (const name of ['early', 'late']) await (await start(name, { signal: controller.signal })).result
    await start('failing', { signal: controller.signal }).catch(() => {})
    for (const request of requests) expect(request.signal.aborted).toBe(false)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })
})
