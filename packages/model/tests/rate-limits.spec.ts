import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LanguageModel, RateLimits } from '../src/index.ts'
import { type Answer, limitsOf, model, once, passes, refusal, type Sent, send, withoutChance } from './support.ts'

beforeEach(() => { vi.useFakeTimers({ now: 0 }) })
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const timesOf = (requests: readonly Sent[]): number[][] => requests.map(({ times }) => times)

describe('the rate limit of a model', () => {
  it('is nothing until one is met, and nothing again when it is over', async () => {
    const limits = await limitsOf()
    const main = model('main')
    expect(limits.find(main)).toBeUndefined()
    const request = send(limits, main, once(1000))
    await vi.advanceTimersByTimeAsync(500)
    expect(limits.find(main)).toBeDefined()
    await vi.advanceTimersByTimeAsync(5000)
    expect(request.outcome).toBe('answered')
    expect(limits.find(main)).toBeUndefined()
  })

  it('holds every request to it until the time that the endpoint named, and those to other models not at all', async () => {
    withoutChance()
    const limits = await limitsOf()
    const [main, other] = [model('main'), model('other')]
    const first = send(limits, main, once(30_000))
    await vi.advanceTimersByTimeAsync(10)
    const siblings = [1, 2].map(() => send(limits, main, () => passes))
    const elsewhere = send(limits, other, () => passes)
    await vi.advanceTimersByTimeAsync(29_980)
    expect(timesOf([first, ...siblings, elsewhere])).toEqual([[0], [], [], [10]])
    expect(siblings.map(({ held }) => held)).toEqual([[30_000], [30_000]])
    await vi.advanceTimersByTimeAsync(10)
    expect(timesOf([first, ...siblings])).toEqual([[0, 30_000], [30_000], [30_000]])
  })

  it('is waited for one second, two, four, up to sixty, where the endpoint names no time', async () => {
    withoutChance()
    vi.mocked(Math.random).mockReturnValue(1)
    const request = send(await limitsOf({ rateLimit: { maxAttempts: 9 } }), model('main'), () => ({ refuse: undefined }))
    await vi.runAllTimersAsync()
    expect(request.times.map((time, i) => time - (request.times[i - 1] ?? 0))).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  })

  it('is waited for at least half as long, by chance, and never shorter than the endpoint says', async () => {
    withoutChance()
    const limits = await limitsOf({ rateLimit: { maxAttempts: 3 } })
    const unnamed = send(limits, model('a'), () => ({ refuse: undefined }))
    const named = send(limits, model('b'), () => ({ refuse: 700 }))
    await vi.runAllTimersAsync()
    expect(timesOf([unnamed, named])).toEqual([[0, 500, 1500], [0, 700, 1400]])
    vi.mocked(Math.random).mockReturnValue(1)
    const late = send(limits, model('c'), once(60_000))
    const start = Date.now()
    await vi.runAllTimersAsync()
    expect(late.times[1]! - start).toBe(61_000)
  })

  it('is waited for by the back-off where the endpoint says to come back at once', async () => {
    withoutChance()
    const request = send(await limitsOf(), model('main'), once(0))
    await vi.runAllTimersAsync()
    expect(request.times).toEqual([0, 500])
  })
})

describe('when it is over', () => {
  /** Five requests that are held until 1000, of which each is answered when the test says so. */
  async function heldRequests(): Promise<{ limits: RateLimits, main: LanguageModel, sent: () => number }> {
    withoutChance()
    const limits = await limitsOf()
    const main = model('main')
    limits.meet(main).refused(refusal, 1000)
    let made = 0
    for (let i = 0; i < 5; i++) send(limits, main, () => { made++; return { silent: true } })
    return { limits, main, sent: () => made }
  }

  it('one request goes first, and every one that gets through lets two more go', async () => {
    withoutChance()
    const limits = await limitsOf()
    const main = model('main')
    limits.meet(main).refused(refusal, 1000)
    const inside: (() => void)[] = []
    for (let i = 0; i < 7; i++) {
      const pass = limits.find(main)!
      void pass.enter(new AbortController().signal, () => {}).then(() => inside.push(() => { pass.passed() }))
    }
    await vi.advanceTimersByTimeAsync(1000)
    const rounds = [inside.length]
    while (inside.length > 0) {
      for (const pass of inside.splice(0)) pass()
      await vi.advanceTimersByTimeAsync(0)
      rounds.push(inside.length)
    }
    expect(rounds).toEqual([1, 2, 4, 0])
  })

  it('one that is refused holds all of them again', async () => {
    withoutChance()
    const limits = await limitsOf()
    const main = model('main')
    const first = send(limits, main, attempt => attempt < 3 ? { refuse: 1000 } : passes)
    const others = [1, 2, 3].map(() => send(limits, main, once(1000)))
    await vi.advanceTimersByTimeAsync(1999)
    expect(timesOf([first, ...others])).toEqual([[0, 1000], [0], [0], [0]])
    expect(others[0]!.held).toEqual([1000, 2000])
    await vi.advanceTimersByTimeAsync(1)
    expect(timesOf(others)).toEqual([[0, 2000], [0, 2000], [0, 2000]])
  })

  it('one that ends in another way lets the next go', async () => {
    withoutChance()
    const limits = await limitsOf()
    const main = model('main')
    const first = send(limits, main, attempt => attempt === 1 ? { refuse: 1000 } : { fails: true })
    const next = send(limits, main, () => passes)
    await vi.advanceTimersByTimeAsync(1000)
    expect([first.outcome, next.outcome]).toEqual(['failed', 'answered'])
  })

  it('one that is not heard of for five seconds lets the next go', async () => {
    const { sent } = await heldRequests()
    await vi.advanceTimersByTimeAsync(1000)
    expect(sent()).toBe(1)
    await vi.advanceTimersByTimeAsync(4999)
    expect(sent()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(sent()).toBe(2)
  })

  it('requests that come then wait their turn', async () => {
    const { limits, main, sent } = await heldRequests()
    await vi.advanceTimersByTimeAsync(1000)
    const late = send(limits, main, () => passes)
    await vi.advanceTimersByTimeAsync(20_000)
    expect([sent(), late.outcome]).toEqual([5, undefined])
    await vi.advanceTimersByTimeAsync(5000)
    expect(late.outcome).toBe('answered')
  })
})

describe('refusals of requests that went together', () => {
  it('count as one, and the latest time that is named holds', async () => {
    withoutChance()
    const limits = await limitsOf()
    const main = model('main')
    const requests = [undefined, undefined, 1700].map(retryAfterMs => send(limits, main, once(retryAfterMs)))
    await vi.advanceTimersByTimeAsync(1699)
    expect(timesOf(requests)).toEqual([[0], [0], [0]])
    await vi.advanceTimersByTimeAsync(1)
    expect(timesOf(requests)).toEqual([[0, 1700], [0, 1700], [0, 1700]])
  })

  it('lengthen the back-off once, which starts over when one got through', async () => {
    withoutChance()
    const limits = await limitsOf()
    const main = model('main')
    const [answers, waits]: [(() => Answer)[], number[]] = [[], []]
    // The first goes and gets through, the next two are refused together, and so is the one that goes after them.
    for (let i = 0; i < 4; i++) answers.push(() => i === 0 ? passes : { refuse: undefined })
    limits.meet(main).refused(refusal, undefined)
    const requests = Array.from({ length: 3 }, () => send(limits, main, () => {
      waits.push(Date.now())
      return answers.shift()?.() ?? passes
    }))
    await vi.runAllTimersAsync()
    expect(requests.map(({ outcome }) => outcome)).toEqual(['answered', 'answered', 'answered'])
    expect(waits).toEqual([500, 500, 500, 1000, 2000, 2000])
  })

  it('hold those that are let through later by what comes after them alone', async () => {
    withoutChance()
    const limits = await limitsOf()
    const main = model('main')
    const pass = () => limits.find(main)!
    limits.meet(main).refused(refusal, 1000)
    const { signal } = new AbortController()
    const [first, second, third] = [pass(), pass(), pass()]
    const entered = [first, second, third].map(each => each.enter(signal, () => {}))
    await vi.advanceTimersByTimeAsync(1000)
    first.passed()
    await Promise.all(entered)
    second.refused(refusal, 1000)
    const waiting = [1, 2, 3].map(() => send(limits, main, () => ({ silent: true })))
    third.passed()
    third.left()
    await vi.advanceTimersByTimeAsync(1000)
    expect(waiting.filter(({ times }) => times.length > 0)).toHaveLength(1)
  })

  it('let a crowd of a hundred through an endpoint that takes ten a second, never early, and each refused about once more', async () => {
    const limits = await limitsOf()
    const main = model('main')
    let [second, taken, refused, refusedAt, early] = [-1, 0, 0, 0, 0]
    const endpoint = (): Answer => {
      const now = Date.now()
      if (now > refusedAt && now < Math.ceil(refusedAt / 1000) * 1000) early++
      if (Math.floor(now / 1000) > second) [second, taken] = [Math.floor(now / 1000), 0]
      if (++taken <= 10) return passes
      refused++
      refusedAt = now
      return { refuse: 1000 - now % 1000 }
    }
    const crowd = Array.from({ length: 100 }, () => send(limits, main, endpoint))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(crowd.filter(({ outcome }) => outcome !== 'answered')).toEqual([])
    expect(early).toBe(0)
    expect(refused - 90).toBeLessThan(100)
  })
})
