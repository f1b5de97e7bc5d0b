import type { LanguageModelV3Message, LanguageModelV3Prompt, LanguageModelV3ToolCallPart } from '@ai-sdk/provider'

/**
 * The prompt with each tool call's arguments as its model sent them, so that the endpoint's cache still fits.
 *
 * What the adapter finds in a tool call's `openaiCompatible` it sets on the call's wire form, over its own serialisation.
 */
export function withExactArguments(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  return prompt.map(message => message.role === 'assistant' && message.content.some(isRecorded) ? restore(message) : message)
}

type RecordedCall = LanguageModelV3ToolCallPart & { providerOptions: { offshoot: { input: string } } }

function isRecorded(part: { type: string }): part is RecordedCall {
  const call = part as Partial<LanguageModelV3ToolCallPart>
  return call.type === 'tool-call' && typeof call.providerOptions?.offshoot?.input === 'string'
}

function restore(message: LanguageModelV3Message & { role: 'assistant' }): LanguageModelV3Message {
  return {
    ...message,
    content: message.content.map((part) => {
      if (!isRecorded(part)) return part
      const { input } = part.providerOptions.offshoot
      if (!meansTheSame(input, part.input)) return part
      const openaiCompatible = { ...part.providerOptions.openaiCompatible, function: { name: part.toolName, arguments: input } }
      return { ...part, providerOptions: { ...part.providerOptions, openaiCompatible } }
    }),
  }
}

/** Whether `text` is JSON for `value`. Malformed text is not: such a call goes out with the `{}` that it has. */
function meansTheSame(text: string, value: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value)
  } catch {
    return false
  }
}

/** The prompt without what the log alone needs: an adapter may send all that it finds. Messages that hold none are shared. */
export function withoutOrigin(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  return prompt.map(message => message.role === 'assistant' && message.content.some(isRecorded)
    ? { ...message, content: message.content.map(part => isRecorded(part) ? clean(part) : part) }
    : message)
}

function clean({ providerOptions: { offshoot: _, ...others }, ...part }: RecordedCall): LanguageModelV3ToolCallPart {
  return Object.keys(others).length > 0 ? { ...part, providerOptions: others } : part
}
