import type { FailureEvidence } from './failure-evidence.ts'

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** How long the endpoint wants to be left alone, in milliseconds; `undefined` where it did not say. */
export function retryDelay({ headers, retryDelay: named, text }: Pick<FailureEvidence, 'headers' | 'retryDelay' | 'text'>): number | undefined {
  return inUnits(headers['retry-after-ms'], 1)
    ?? inUnits(headers['retry-after'], 1000)
    ?? untilDate(headers['retry-after'])
    ?? (named === undefined ? undefined : spelledOut(named))
    ?? spelledOut(/(?:try again|retry|wait)(?: in| after| for)? ((?:[\d.]+ ?(?:ms|h|m|s)[a-z]* ?)+)/i.exec(text)?.[1] ?? '')
}

function inUnits(value: string | undefined, unit: number): number | undefined {
  return value !== undefined && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) * unit : undefined
}

function untilDate(value: string | undefined): number | undefined {
  // `Date.parse` makes a date of nearly anything with a digit.
  const date = value?.includes(':') ? Date.parse(value) : NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}

/** `1m9.696s`, `634ms`, `20 seconds`. */
function spelledOut(text: string): number | undefined {
  let total: number | undefined
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?) ?(ms|h|m|s)/gi)) {
    total = (total ?? 0) + Number(amount) * unitMs[unit!.toLowerCase()]!
  }
  return total
}
