import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import ModelService from '../src/index.ts'
import { limitsOf, model, once, passes, refusal, send, withoutChance } from './support.ts'

beforeEach(() => { vi.useFakeTimers({ now: 0 }) })
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe('a request is given up', () => {
  it('after as many attempts as are allowed, saying how often and how long it was tried', async () => {
    withoutChance()
    const request = send(await limitsOf({ rateLimit: { maxAttempts: 3 } }), model('main'), () => ({ refuse: 20_000 }))
    await vi.runAllTimersAsync()
    expect(request.times).toHaveLength(3)
    expect(request.outcome).toBe('ModelError: the model endpoint http://a/v1 answered 429: slow down; tried 3 times in 40 s (rateLimit.maxAttempts)')
  })

  it('at once where the endpoint names a time later than a request waits, and so are those that are held and those that come', async () => {
    withoutChance()
    const limits = await limitsOf({ rateLimit: { maxWaitMs: 60_000 } })
    const main = model('main')
    const first = send(limits, main, attempt => ({ refuse: attempt === 1 ? 1000 : 3_600_000 }))
    await vi.advanceTimersByTimeAsync(500)
    const held = send(limits, main, () => passes)
    await vi.advanceTimersByTimeAsync(500)
    const late = send(limits, main, () => passes)
    await vi.advanceTimersByTimeAsync(0)
    const why = '(the limit lasts another 3600 s, and a request waits 60 s at most (rateLimit.maxWaitMs))'
    const said = 'ModelError: the model endpoint http://a/v1 answered 429: slow down;'
    expect([first, held, late].map(({ outcome }) => outcome)).toEqual([`${said} tried 2 times in 1 s ${why}`, `${said} not tried ${why}`, `${said} not tried ${why}`])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('when it has waited as long as a request waits in all', async () => {
    withoutChance()
    const request = send(await limitsOf({ rateLimit: { maxWaitMs: 10_000 } }), model('main'), () => ({ refuse: 4000 }))
    await vi.runAllTimersAsync()
    expect(request.times).toEqual([0, 4000, 8000])
    expect(request.outcome).toMatch(/tried 3 times in 8 s \(the limit lasts another 4 s, and a request waits 10 s at most/)
  })
})

describe('an abort', () => {
  it('ends the waiting at once, with its reason, and leaves neither timer nor listener behind', async () => {
    const limits = await limitsOf()
    const main = model('main')
    const controllers = [new AbortController(), new AbortController()]
    const requests = controllers.map(({ signal }) => send(limits, main, once(30_000), signal))
    await vi.advanceTimersByTimeAsync(1000)
    expect(vi.getTimerCount()).toBe(1)
    for (const controller of controllers) controller.abort(new Error('enough'))
    await Promise.all(requests.map(({ done }) => done))
    expect(requests.map(({ outcome }) => outcome)).toEqual(['Error: enough', 'Error: enough'])
    expect(vi.getTimerCount()).toBe(0)
    expect(controllers.flatMap(({ signal }) => getEventListeners(signal, 'abort'))).toEqual([])
  })

  it('leaves the limit as it is for those that come', async () => {
    withoutChance()
    const limits = await limitsOf()
    const main = model('main')
    const controller = new AbortController()
    const aborted = send(limits, main, once(30_000), controller.signal)
    await vi.advanceTimersByTimeAsync(1000)
    controller.abort(new Error('enough'))
    await aborted.done
    const { signal } = new AbortController()
    const late = send(limits, main, () => passes, signal)
    await vi.advanceTimersByTimeAsync(28_999)
    expect(late.times).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(late.times).toEqual([30_000])
    expect(vi.getTimerCount()).toBe(0)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('before it has to wait rejects as well', async () => {
    const limits = await limitsOf()
    const main = model('main')
    limits.meet(main).refused(refusal, 1000)
    const request = send(limits, main, () => passes, AbortSignal.abort(new Error('enough')))
    await request.done
    expect(request.outcome).toBe('Error: enough')
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('the config', () => {
  it('allows eight attempts and ten minutes, unless told otherwise', () => {
    expect(ModelService.Config({})).toEqual({ rateLimit: { maxAttempts: 8, maxWaitMs: 600_000 } })
    expect(ModelService.Config({ rateLimit: { maxAttempts: 1 } })).toEqual({ rateLimit: { maxAttempts: 1, maxWaitMs: 600_000 } })
  })

  it.each([{ maxAttempts: 0 }, { maxAttempts: 1.5 }, { maxWaitMs: -1 }])('refuses %j', rateLimit => {
    expect(() => ModelService.Config({ rateLimit })).toThrow(Object.keys(rateLimit)[0])
  })
})
