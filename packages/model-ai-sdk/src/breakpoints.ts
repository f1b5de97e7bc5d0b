import type { JSONValue, LanguageModelV3Message, SharedV3ProviderOptions } from '@ai-sdk/provider'
import type { ModelRequest } from '@offshoot/model'

/** A breakpoint's value where nobody wants another (`{ type: 'ephemeral', ttl: '1h' }`). */
const ephemeral: JSONValue = Object.freeze({ type: 'ephemeral' })

/**
 * The request with the four breakpoints that Anthropic allows and needs: it caches up to them, and nothing else.
 *
 * They stand after the tools, after the system text, where the request before this one ended, and at the end. So what the
 * request before wrote to the cache is named, however much one step added (Anthropic looks back 20 blocks, no more);
 * a fork's request names what its parent's wrote. Other vendors ignore them.
 *
 * What it marks it copies; all else is shared with `request`.
 */
export function withBreakpoints(request: ModelRequest, cacheControl: JSONValue = ephemeral): ModelRequest {
  const { prompt, tools } = request
  const marked = [...prompt]
  for (const index of breakpoints(prompt)) marked[index] = mark(marked[index]!, cacheControl)
  const last = tools?.at(-1)
  if (last?.type !== 'function') return { ...request, prompt: marked }
  return { ...request, prompt: marked, tools: [...tools!.slice(0, -1), mark(last, cacheControl)] }
}

/** Where they stand in the prompt. The request before ended with what the newest reply answers. */
function breakpoints(prompt: readonly LanguageModelV3Message[]): Set<number> {
  const places = new Set<number>()
  const add = (index: number): void => { if (index >= 0) places.add(index) }
  add(prompt.findLastIndex(({ role }) => role === 'system'))
  const reply = prompt.findLastIndex(({ role }) => role === 'assistant')
  add(prompt.findLastIndex(({ role }, index) => index < reply && role !== 'assistant'))
  add(prompt.length - 1)
  return places
}

function mark<T extends { providerOptions?: SharedV3ProviderOptions }>(part: T, cacheControl: JSONValue): T {
  const { providerOptions } = part
  return { ...part, providerOptions: { ...providerOptions, anthropic: { ...providerOptions?.anthropic, cacheControl } } }
}
