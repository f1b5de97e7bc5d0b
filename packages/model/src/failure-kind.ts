import { ModelError } from './error.ts'
import { evidenceOf } from './failure-evidence.ts'
import { retryDelay } from './retry-delay.ts'

/** A failure that says more than that the request failed. */
export type FailureKind =
  /** Too many requests, or too much load: the same request gets through later, after `retryAfterMs` where the endpoint said so. */
  | { readonly kind: 'rate-limit', readonly retryAfterMs?: number }
  /** The account behind the model has nothing left: waiting does not help. */
  | { readonly kind: 'quota' }
  /** The request is too large, and stays so. */
  | { readonly kind: 'context-overflow' }

const quotaCode = /insufficient_?(?:quota|credit|balance|fund)|exceeded_current_quota|billing|credit|arrearage|overdue|payment_required|^1113$/
const overflowCode = /context_(?:length|window|size)|exceed_context|prompt_too_long|prompt_tokens_exceeded|request_too_large|tokens_limit_reached|string_above_max_length/
const limitCode = /rate_?limit|too_?many_?requests|throttl|overload|resource_?exhausted|capacity_exceeded|slow_down/

const quotaText = anyOf(
  'credit balance is too low', 'insufficient (?:balance|credits?|funds|quota)', '(?:used|out of|purchase|buy|requires) (?:[a-z]+ )?credits',
  'exceeded your current quota', 'spending limit', 'out of extra usage',
  // A limit of the day that does not say when it ends.
  'per[ -]day',
)
const overflowText = anyOf(
  '(?:exceeds?|exceeded|longer than|greater than|larger than) [^.;]{0,60}\\bcontext (?:length|window|size|limit)',
  'context (?:length|window|size) (?:exceed|of only)', '\\bmax(?:imum)? context length', 'configured context size',
  '(?:prompt|input) (?:is )?too long', '(?:prompt|input) token count [^.;]{0,30}exceeds', 'maximum prompt length',
  'exceeds the maximum (?:allowed )?input length', 'exceeds the max input token', 'prompt exceeds max length',
  'exceeded model token limit', 'tokens in request more than max', 'range of input length should be',
  'number of tokens in the prompt cannot exceed', 'reduce the length of the (?:messages|prompt|input)',
  // More than the tokens of a whole minute, which no waiting makes smaller.
  'request (?:body )?too large',
)
const limitText = anyOf('overloaded', 'rate[- ]?limit', 'too many requests', 'too many tokens, please wait')

/**
 * What kind of failure of a model request `error` is, as far as that makes a difference; `undefined` for any other.
 *
 * Judged by shape and wording: an AI SDK `APICallError` of whichever copy, the error part of a stream, or anything with a
 * message. A vendor's code goes before its wording.
 */
export function classifyFailure(error: unknown): FailureKind | undefined {
  // A refusal of our own is final, and repeats the endpoint's words.
  if (error instanceof ModelError) return undefined
  const evidence = evidenceOf(error)
  const { status, codes, text } = evidence
  const isCode = (pattern: RegExp): boolean => codes.some(code => pattern.test(code))
  if (status === 402 || isCode(quotaCode)) return { kind: 'quota' }
  if (status === 413 || isCode(overflowCode) || overflowText.test(text)) return { kind: 'context-overflow' }
  const retryAfterMs = retryDelay(evidence)
  // Some say "quota" of what one minute may bring; what ends by itself says when.
  if (retryAfterMs === undefined && (status ?? 0) < 500 && quotaText.test(text)) return { kind: 'quota' }
  const isLimit = status === 429 || status === 529 || isCode(limitCode)
    || (status === 503 && retryAfterMs !== undefined)
    || ((status ?? 500) >= 500 && limitText.test(text))
  if (!isLimit) return undefined
  return retryAfterMs === undefined ? { kind: 'rate-limit' } : { kind: 'rate-limit', retryAfterMs }
}

function anyOf(...wordings: readonly string[]): RegExp {
  return new RegExp(wordings.join('|'), 'i')
}
