import type { LanguageModelV3Prompt } from '@ai-sdk/provider'
import type { LanguageModel, ModelRequest, ModelStreamPart } from '@offshoot/model'
import { onTestFinished } from 'vitest'
import { EndpointModel, type EndpointOptions } from '../src/index.ts'
import { type Endpoint, type Handler, startEndpoint } from '../src/testing.ts'

export async function endpointWith(handler?: Handler, options: Partial<EndpointOptions> = {}): Promise<{ endpoint: Endpoint, model: EndpointModel }> {
  const endpoint = await startEndpoint(handler)
  onTestFinished(() => endpoint.close())
  return { endpoint, model: new EndpointModel({ baseURL: endpoint.baseURL, model: 'test-model', ...options }) }
}

export async function ask(model: LanguageModel, request: Partial<ModelRequest> = {}): Promise<ModelStreamPart[]> {
  const { stream } = await model.doStream({ prompt: say('hello'), ...request })
  const parts: ModelStreamPart[] = []
  for await (const part of stream as AsyncIterable<ModelStreamPart>) parts.push(part)
  return parts
}

export function say(text: string): LanguageModelV3Prompt {
  return [{ role: 'system', content: 'You are a test.' }, { role: 'user', content: [{ type: 'text', text }] }]
}

export function partOf<T extends ModelStreamPart['type']>(parts: readonly ModelStreamPart[], type: T): Extract<ModelStreamPart, { type: T }> {
  const part = parts.find(candidate => candidate.type === type)
  if (!part) throw new Error(`no part "${type}" among ${parts.map(each => each.type).join(', ')}`)
  return part as Extract<ModelStreamPart, { type: T }>
}

export function gate(): { opened: Promise<void>, open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => { open = resolve })
  return { opened, open }
}
