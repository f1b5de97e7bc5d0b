import type { LanguageModelV3Usage } from '@ai-sdk/provider'
import type { Usage } from '@offshoot/session'

/** Adds up what the requests of one turn cost. A figure that no request reported stays absent. */
export class UsageCount {
  steps = 0
  toolCalls = 0
  private inputTokens: number | undefined
  private outputTokens: number | undefined
  private cachedInputTokens: number | undefined
  private reasoningTokens: number | undefined
  private unreportedSteps = 0
  private readonly startedAt = performance.now()

  /** Count one request, with what its endpoint reported of it. */
  add(reported: LanguageModelV3Usage | undefined): void {
    this.steps++
    if (reported?.inputTokens.total === undefined || reported.outputTokens.total === undefined) this.unreportedSteps++
    if (!reported) return
    this.inputTokens = sum(this.inputTokens, reported.inputTokens.total)
    this.outputTokens = sum(this.outputTokens, reported.outputTokens.total)
    this.cachedInputTokens = sum(this.cachedInputTokens, reported.inputTokens.cacheRead)
    this.reasoningTokens = sum(this.reasoningTokens, reported.outputTokens.reasoning)
  }

  total(): Usage {
    const { steps, toolCalls, inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = this
    const usage: { -readonly [K in keyof Usage]: Usage[K] } = { steps, toolCalls, durationMs: Math.round(performance.now() - this.startedAt) }
    if (inputTokens !== undefined) usage.inputTokens = inputTokens
    if (outputTokens !== undefined) usage.outputTokens = outputTokens
    if (cachedInputTokens !== undefined) usage.cachedInputTokens = cachedInputTokens
    if (reasoningTokens !== undefined) usage.reasoningTokens = reasoningTokens
    if (this.unreportedSteps > 0) usage.unreportedSteps = this.unreportedSteps
    return Object.freeze(usage)
  }
}

function sum(total: number | undefined, reported: number | undefined): number | undefined {
  return reported === undefined ? total : (total ?? 0) + reported
}

/** What both cost together. */
export function sumUsage(a: Usage, b: Usage): Usage {
  const total: { -readonly [K in keyof Usage]: Usage[K] } = {
    steps: a.steps + b.steps, toolCalls: a.toolCalls + b.toolCalls, durationMs: a.durationMs + b.durationMs,
  }
  for (const key of ['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens', 'unreportedSteps'] as const) {
    const figure = a[key] === undefined ? b[key] : sum(a[key], b[key])
    if (figure !== undefined) total[key] = figure
  }
  return Object.freeze(total)
}
