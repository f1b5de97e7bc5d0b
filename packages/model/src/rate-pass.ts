import { ModelError } from './error.ts'
import { describeFailure } from './failure.ts'
import type { Opening, RateGate } from './rate-gate.ts'
import type { RateLimitOptions } from './rate-limits.ts'

/** One request's way through its model's rate limit, however often it is made. */
export class RatePass {
  private readonly gate: RateGate
  private readonly options: RateLimitOptions
  private readonly since = Date.now()
  private opening: Opening | undefined
  private attempts = 0

  /** `opening`: which one let the request through already. */
  constructor(gate: RateGate, opening: Opening | undefined, options: RateLimitOptions) {
    this.gate = gate
    this.opening = opening
    this.options = options
  }

  /**
   * Settles when the request may be made, or, with why, when it is given up. Rejects with the signal's reason.
   *
   * `held` is called while it waits: until when, in milliseconds since the epoch, at the earliest.
   */
  async enter(signal: AbortSignal, held: (until: number) => void): Promise<ModelError | undefined> {
    const { maxWaitMs } = this.options
    this.opening = await this.gate.enter({ signal, deadline: this.since + maxWaitMs, held })
    if (this.opening !== undefined) return undefined
    const left = seconds(this.gate.closedUntil - Date.now())
    return this.givenUp(`the limit lasts another ${left}, and a request waits ${seconds(maxWaitMs)} at most (rateLimit.maxWaitMs)`)
  }

  /** The request is being answered: the limit is over for it. */
  passed(): void {
    const { opening } = this
    this.opening = undefined
    if (opening !== undefined) this.gate.passed(opening)
  }

  /** The request has ended. */
  left(): void {
    const { opening } = this
    this.opening = undefined
    if (opening !== undefined) this.gate.left(opening)
  }

  /** The endpoint refused the request for its rate. Answers why it is given up, if it is not to be made again. */
  refused(error: unknown, retryAfterMs: number | undefined): ModelError | undefined {
    const { opening } = this
    this.opening = undefined
    this.attempts++
    this.gate.close(opening, describeFailure(error), retryAfterMs)
    return this.attempts < this.options.maxAttempts ? undefined : this.givenUp('rateLimit.maxAttempts')
  }

  private givenUp(why: string): ModelError {
    const times = this.attempts === 1 ? 'once' : `${this.attempts} times`
    const tried = this.attempts === 0 ? 'not tried' : `tried ${times} in ${seconds(Date.now() - this.since)}`
    return new ModelError('RATE_LIMITED', `${this.gate.refusal}; ${tried} (${why})`)
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`
}
