/** The tokens that the fake agent reports for each prompt, where it is told to. */
export const fakeUsage = { totalTokens: 23, inputTokens: 11, outputTokens: 7, cachedReadTokens: 3, cachedWriteTokens: 2 } as const

/** The context that it says is in use, which is no sum of tokens, and what that cost. */
export const fakeContext = { used: 5000, size: 100_000, cost: { amount: 0.25, currency: 'USD' } } as const

export const usagePlaces = ['response', 'quota', 'update', 'zeros'] as const

type UsagePlace = typeof usagePlaces[number]

/** What of it belongs into the answer to a prompt. */
export function usageFields(places: readonly UsagePlace[]): object {
  return {
    ...places.includes('response') && { usage: fakeUsage },
    ...places.includes('zeros') && { usage: { totalTokens: 0, inputTokens: 0, outputTokens: 0 } },
    ...places.includes('quota') && { _meta: { quota: { token_count: { input_tokens: fakeUsage.inputTokens, output_tokens: fakeUsage.outputTokens } } } },
  }
}
