import type { Usage } from '@offshoot/session'

type Tokens = Pick<Usage, 'inputTokens' | 'outputTokens' | 'cachedInputTokens' | 'reasoningTokens'>

/**
 * What an agent says that a prompt has cost: in the answer's `usage`, else where some agents put it, in `_meta.quota.token_count`.
 * `usage_update` is no such figure: it says how full the context is. Nothing but zeros is what agents report that do not know.
 */
export function tokensOf(response: unknown): Tokens | undefined {
  const tokens = reportedTokens(response)
  return tokens && Object.values(tokens).some(count => count > 0) ? tokens : undefined
}

function reportedTokens(response: unknown): Tokens | undefined {
  const { usage, _meta: meta } = fields(response)
  const reported = fields(usage)
  if (isCount(reported['inputTokens']) || isCount(reported['outputTokens'])) {
    const cached = sum(reported['cachedReadTokens'], reported['cachedWriteTokens']) ?? 0
    const rest = (sum(reported['totalTokens']) ?? Infinity) - (sum(reported['inputTokens'], reported['outputTokens']) ?? 0)
    return counts({
      // Some count what came from a cache as input, some beside it: the total tells.
      inputTokens: rest < cached || !isCount(reported['inputTokens']) ? sum(reported['inputTokens']) : reported['inputTokens'] + cached,
      outputTokens: sum(reported['outputTokens']),
      cachedInputTokens: sum(reported['cachedReadTokens']),
      reasoningTokens: sum(reported['thoughtTokens']),
    })
  }
  const quota = fields(fields(fields(meta)['quota'])['token_count'])
  if (!isCount(quota['input_tokens']) && !isCount(quota['output_tokens'])) return undefined
  return counts({ inputTokens: sum(quota['input_tokens']), outputTokens: sum(quota['output_tokens']) })
}

function counts(all: Record<string, number | undefined>): Tokens {
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count !== undefined))
}

function sum(...values: unknown[]): number | undefined {
  const known = values.filter(isCount)
  return known.length === 0 ? undefined : known.reduce((a, b) => a + b, 0)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? value as Record<string, unknown> : {}
}
