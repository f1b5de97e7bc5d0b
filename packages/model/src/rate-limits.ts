import { RateGate } from './rate-gate.ts'
import { RatePass } from './rate-pass.ts'
import type { LanguageModel } from './types.ts'

export interface RateLimitOptions {
  /** How often a request is made before its rate limit fails it. */
  readonly maxAttempts: number
  /** How long a request waits for rate limits, in all. */
  readonly maxWaitMs: number
}

/** The rate limits that models have met: one gate for each. A model that never meets one costs nothing. */
export class RateLimits {
  readonly options: RateLimitOptions
  private gates: WeakMap<LanguageModel, RateGate> | undefined

  constructor(options: RateLimitOptions) {
    this.options = options
  }

  /** The way through for a request to `model`, where there is a limit. `maxWaitMs`: less than the app's. */
  find(model: LanguageModel, maxWaitMs?: number): RatePass | undefined {
    const gate = this.gates && this.gateOf(this.gates, model)
    return gate && new RatePass(gate, undefined, this.optionsWith(maxWaitMs))
  }

  /** The way through for a request to `model` that found no limit and was refused all the same. */
  meet(model: LanguageModel, maxWaitMs?: number): RatePass {
    const gates = this.gates ??= new WeakMap<LanguageModel, RateGate>()
    const known = this.gateOf(gates, model)
    const gate = known ?? new RateGate()
    gates.set(model, gate)
    return new RatePass(gate, known ? undefined : gate.opening, this.optionsWith(maxWaitMs))
  }

  private gateOf(gates: WeakMap<LanguageModel, RateGate>, model: LanguageModel): RateGate | undefined {
    const gate = gates.get(model)
    if (!gate?.isDone) return gate
    gates.delete(model)
    return undefined
  }

  private optionsWith(maxWaitMs: number | undefined): RateLimitOptions {
    return maxWaitMs === undefined ? this.options : { ...this.options, maxWaitMs }
  }
}
