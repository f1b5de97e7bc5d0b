import { Context } from 'cordis'
import { onTestFinished, vi } from 'vitest'
import ModelService, { type LanguageModel, type RateLimits } from '../src/index.ts'

export async function limitsOf(config?: ModelService.Input): Promise<RateLimits> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(ModelService, config)
  return ctx.models.core.rateLimits
}

export function model(modelId: string): LanguageModel {
  return { specificationVersion: 'v3', provider: 'test', modelId, doStream: () => Promise.reject(new Error('not asked')) }
}

/** No chance: a wait is the shortest that it can be. */
export function withoutChance(): void {
  vi.spyOn(Math, 'random').mockReturnValue(0)
}

export const refusal = Object.assign(new Error('slow down'), { url: 'http://a/v1', statusCode: 429 })

/** `refuse`: with what it says of when to come back. */
export type Answer = { readonly passes: true } | { readonly refuse: number | undefined } | { readonly fails: true } | { readonly silent: true }

export const passes: Answer = { passes: true }

/** Refuses the first attempt, and answers the next. */
export function once(retryAfterMs?: number): (attempt: number) => Answer {
  return attempt => attempt === 1 ? { refuse: retryAfterMs } : passes
}

/** What became of a request. */
export interface Sent {
  /** When it was made, each time. */
  readonly times: number[]
  /** Until when it was held, as it was told. */
  readonly held: number[]
  /** `answered`, `failed`, or the error that it was given up with. */
  outcome: string | undefined
  readonly done: Promise<void>
}

/** Make a request as an agent does: through the limit where there is one, and again after each refusal. */
export function send(limits: RateLimits, to: LanguageModel, answer: (attempt: number) => Answer, signal: AbortSignal = new AbortController().signal): Sent {
  const times: number[] = []
  const held: number[] = []
  const run = async (): Promise<string | undefined> => {
    let pass = limits.find(to)
    for (;;) {
      const tooLong = await pass?.enter(signal, until => { held.push(until) })
      if (tooLong) return String(tooLong)
      times.push(Date.now())
      const answered = answer(times.length)
      if ('silent' in answered) return undefined
      if ('refuse' in answered) {
        pass ??= limits.meet(to)
        const givenUp = pass.refused(refusal, answered.refuse)
        if (givenUp) return String(givenUp)
        continue
      }
      if ('passes' in answered) pass?.passed()
      pass?.left()
      return 'passes' in answered ? 'answered' : 'failed'
    }
  }
  const sent: Sent = {
    times, held, outcome: undefined,
    done: run().catch(String).then(outcome => { sent.outcome = outcome }),
  }
  return sent
}
