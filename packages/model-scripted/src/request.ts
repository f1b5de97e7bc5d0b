import type { LanguageModelV3Message, LanguageModelV3ToolResultPart } from '@ai-sdk/provider'
import type { ModelRequest } from '@offshoot/model'
import type { ScriptRequest } from './types.ts'

/** What `request` asks, as a script sees it. */
export function describeRequest({ prompt, tools = [], providerOptions }: ModelRequest): ScriptRequest {
  const { label, step } = providerOptions?.offshoot ?? {}
  const last = prompt.at(-1)
  const results = resultsOf(prompt.findLast(message => message.role === 'tool'))
  return {
    label: typeof label === 'string' ? label : '',
    step: typeof step === 'number' ? step : 0,
    last: last?.role === 'tool' ? results.join('\n') : textOf(last),
    results,
    prompt,
    tools: tools.map(tool => tool.name),
  }
}

/** A plausible figure for what `request` would cost: a token for every four characters of its messages. */
export function inputTokens({ prompt }: ModelRequest): number {
  let characters = 0
  for (const message of prompt) characters += charactersOf(message)
  return Math.ceil(characters / 4)
}

function charactersOf({ content }: LanguageModelV3Message): number {
  if (typeof content === 'string') return content.length
  let characters = 0
  for (const part of content) {
    if (part.type === 'text' || part.type === 'reasoning') characters += part.text.length
    else if (part.type === 'tool-call') characters += JSON.stringify(part.input)?.length ?? 0
    else if (part.type === 'tool-result') characters += outputText(part.output).length
  }
  return characters
}

function textOf(message: LanguageModelV3Message | undefined): string {
  if (message === undefined) return ''
  if (message.role === 'system') return message.content
  return message.content.map(part => part.type === 'text' ? part.text : '').join('')
}

function resultsOf(message: LanguageModelV3Message | undefined): string[] {
  return message?.role === 'tool' ? message.content.flatMap(part => part.type === 'tool-result' ? [outputText(part.output)] : []) : []
}

function outputText(output: LanguageModelV3ToolResultPart['output']): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value)
    case 'content':
      return output.value.map(part => part.type === 'text' ? part.text : '').join('')
    case 'execution-denied':
      return output.reason ?? ''
  }
}
