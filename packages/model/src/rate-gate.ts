/** Which opening of the gate let a request through. */
export type Opening = number

/** A request that asks to be let through. */
export interface Entrant {
  readonly signal: AbortSignal
  /** The last moment that it waits for. */
  readonly deadline: number
  /** It has to wait, until then at the earliest. Told again where that moves. */
  held(until: number): void
}

interface Waiter {
  readonly entrant: Entrant
  readonly settle: (opening: Opening | undefined) => void
}

/** The first wait without a word from the endpoint. */
const firstBackOffMs = 1000
const longestBackOffMs = 60_000
/** Others who share the limit were told the same time. */
const longestSpreadMs = 1000
/** A request that has not been refused by then was most likely let in. */
const patienceMs = 5000
/** What `setTimeout` can count. */
const longestTimerMs = 2 ** 31 - 1

/**
 * Holds the requests to one model while its rate limit lasts. Then one of them goes first. Each that gets through
 * lets two more go, so that a crowd does not meet the limit again all at once.
 *
 * Times are in milliseconds since the epoch. No timer runs while nobody waits.
 */
export class RateGate {
  /** What the endpoint said when it last refused a request. */
  refusal = ''
  /** When the next request may go, at the earliest. */
  closedUntil = 0
  /** Another one each time it was closed. */
  opening: Opening = 0
  private readonly waiting = new Set<Waiter>()
  /** Closings in a row in which nobody got through. */
  private refusals = 0
  /** Let through by this opening, and not heard of since. */
  private out = 0
  private atOnce = 1
  private timer: NodeJS.Timeout | undefined

  /** Whether there is nothing left to hold anybody for. */
  get isDone(): boolean {
    return this.waiting.size === 0 && this.out === 0 && Date.now() >= this.closedUntil
  }

  /** Settles when the request may go; with `undefined` where that is after its deadline. Rejects with the signal's reason. */
  async enter(entrant: Entrant): Promise<Opening | undefined> {
    const { signal, deadline } = entrant
    signal.throwIfAborted()
    if (this.closedUntil > deadline) return undefined
    if (this.waiting.size === 0 && this.out < this.atOnce && Date.now() >= this.closedUntil) {
      this.out++
      return this.opening
    }
    entrant.held(this.closedUntil)
    return await new Promise((resolve, reject) => {
      const leave = (): void => {
        signal.removeEventListener('abort', abort)
        this.waiting.delete(waiter)
        this.arm()
      }
      const abort = (): void => {
        leave()
        reject(signal.reason)
      }
      const waiter: Waiter = {
        entrant,
        settle: opening => {
          leave()
          resolve(opening)
        },
      }
      signal.addEventListener('abort', abort, { once: true })
      this.waiting.add(waiter)
      this.arm()
    })
  }

  /** What `opening` let through was answered. */
  passed(opening: Opening): void {
    if (opening !== this.opening) return
    this.out--
    this.atOnce++
    this.refusals = 0
    this.admit()
  }

  /** What `opening` let through ended, and nothing is known of the limit. */
  left(opening: Opening): void {
    if (opening !== this.opening) return
    this.out--
    this.admit()
  }

  /**
   * The endpoint refused what `opening` let through. The first to hear so closes the gate, for those that went with it too;
   * what was sent before that (`undefined`: before there was a gate) can only make it later.
   */
  close(opening: Opening | undefined, refusal: string, retryAfterMs: number | undefined): void {
    this.refusal = refusal
    if (opening === this.opening) {
      this.opening++
      this.out = 0
      this.atOnce = 1
      this.closeFor(retryAfterMs ? retryAfterMs + Math.random() * Math.min(retryAfterMs / 10, longestSpreadMs) : this.backOff())
      this.refusals++
    } else if (retryAfterMs) {
      this.closeFor(retryAfterMs)
    }
  }

  private closeFor(ms: number): void {
    const until = Date.now() + ms
    if (until <= this.closedUntil) return
    this.closedUntil = until
    this.disarm()
    for (const { entrant, settle } of [...this.waiting]) {
      if (until > entrant.deadline) settle(undefined)
      else entrant.held(until)
    }
    this.arm()
  }

  /** Twice as long each time. Half of it is chance, so that those who share a limit part. */
  private backOff(): number {
    const longest = Math.min(firstBackOffMs * 2 ** this.refusals, longestBackOffMs)
    return longest / 2 + Math.random() * longest / 2
  }

  private admit(): void {
    if (Date.now() < this.closedUntil) return
    for (const waiter of [...this.waiting]) {
      if (this.out >= this.atOnce) break
      this.out++
      waiter.settle(this.opening)
    }
  }

  private arm(): void {
    if (this.waiting.size === 0) this.disarm()
    else this.timer ??= setTimeout(() => { this.elapsed() }, this.nextWait())
  }

  private nextWait(): number {
    const closed = this.closedUntil - Date.now()
    return closed > 0 ? Math.min(closed, longestTimerMs) : patienceMs
  }

  private disarm(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }

  private elapsed(): void {
    this.timer = undefined
    if (Date.now() >= this.closedUntil) {
      if (this.out >= this.atOnce) this.atOnce = this.out + 1
      this.admit()
    }
    this.arm()
  }
}
