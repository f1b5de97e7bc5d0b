import type { LanguageModelV3Usage } from '@ai-sdk/provider'

interface WireUsage {
  prompt_tokens?: number | null | undefined
  completion_tokens?: number | null | undefined
  prompt_tokens_details?: { cached_tokens?: number | null | undefined } | null | undefined
  completion_tokens_details?: { reasoning_tokens?: number | null | undefined } | null | undefined
}

/** What the endpoint reported, and `undefined` for what it did not: the adapter by itself fills in zeros. */
export function reportedUsage(usage: WireUsage | null | undefined): LanguageModelV3Usage {
  const input = usage?.prompt_tokens ?? undefined
  const output = usage?.completion_tokens ?? undefined
  const cacheRead = usage?.prompt_tokens_details?.cached_tokens ?? undefined
  const reasoning = usage?.completion_tokens_details?.reasoning_tokens ?? undefined
  return {
    inputTokens: { total: input, noCache: minus(input, cacheRead), cacheRead, cacheWrite: undefined },
    outputTokens: { total: output, text: minus(output, reasoning), reasoning },
    ...(usage ? { raw: { ...usage } } : {}),
  }
}

function minus(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined ? undefined : Math.max(0, total - part)
}

/** What the vendor stated. Adapters write 0 for what it did not; what it did is in `raw`. */
export function statedUsage(usage: LanguageModelV3Usage): LanguageModelV3Usage {
  const { inputTokens, outputTokens, raw } = usage
  const stated = (figure: number | undefined, names: RegExp): number | undefined => figure === 0 && !names.test(JSON.stringify(raw ?? {})) ? undefined : figure
  return {
    ...usage,
    inputTokens: {
      ...inputTokens,
      cacheRead: stated(inputTokens.cacheRead, /"\w*cache\w*":\s*[{\d]/i),
      cacheWrite: stated(inputTokens.cacheWrite, /"\w*cache\w*":\s*[{\d]/i),
    },
    outputTokens: { ...outputTokens, reasoning: stated(outputTokens.reasoning, /"\w*(?:reason|think|thought)\w*":\s*[{\d]/i) },
  }
}
