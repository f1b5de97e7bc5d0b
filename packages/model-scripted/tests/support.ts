import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LanguageModelV3Message, LanguageModelV3Prompt } from '@ai-sdk/provider'
import ModelService, { type LanguageModel, type ModelRequest, type ModelStreamPart, syncParts } from '@offshoot/model'
import { Context } from 'cordis'
import { onTestFinished } from 'vitest'
import * as plugin from '../src/index.ts'

export async function app(): Promise<Context> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(ModelService)
  return ctx
}

/** The model that the plugin registers for these rules, whatever they are. */
export async function follow(...rules: unknown[]): Promise<LanguageModel> {
  const ctx = await app()
  await ctx.plugin(plugin, { rules: rules as plugin.ScriptRule[] })
  return ctx.models.get()
}

/** Why the plugin refuses its config: code and sentence. */
export async function refusal(config: object, ctx?: Context): Promise<string> {
  const fiber = (ctx ?? await app()).plugin(plugin, config)
  const error: unknown = await fiber.await().then(() => undefined, (reason: unknown) => reason)
  if (!(error instanceof plugin.ScriptError)) throw new Error('it was not refused with a ScriptError', { cause: error })
  return `${error.code}: ${error.message}`
}

/** A folder with these files, for the test's time. */
export async function folder(files: Record<string, string>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'offshoot-script-'))
  onTestFinished(() => rm(path, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text)
  return path
}

export interface Asked {
  readonly label?: string
  readonly step?: number
  readonly prompt?: LanguageModelV3Prompt
  readonly signal?: AbortSignal
}

export function request({ label = 'main', step = 1, prompt = say('hello'), signal }: Asked = {}): ModelRequest {
  return { prompt, providerOptions: { offshoot: { label, step } }, ...(signal ? { abortSignal: signal } : {}) }
}

export async function ask(model: LanguageModel, asked?: Asked): Promise<ModelStreamPart[]> {
  const { stream } = await model.doStream(request(asked))
  return [...stream[syncParts] ?? []]
}

export async function textOf(model: LanguageModel, asked?: Asked): Promise<string> {
  return (await ask(model, asked)).flatMap(part => part.type === 'text-delta' ? [part.delta] : []).join('')
}

export async function callsOf(model: LanguageModel, asked?: Asked): Promise<{ id: string, tool: string, args: unknown }[]> {
  return (await ask(model, asked)).flatMap(part => part.type === 'tool-call'
    ? [{ id: part.toolCallId, tool: part.toolName, args: JSON.parse(part.input) as unknown }]
    : [])
}

export function finishOf(parts: readonly ModelStreamPart[]): Extract<ModelStreamPart, { type: 'finish' }> {
  const last = parts.at(-1)
  if (last?.type !== 'finish') throw new Error('the stream does not end with "finish"')
  return last
}

export function say(text: string): LanguageModelV3Prompt {
  return [{ role: 'system', content: 'You are a test.' }, { role: 'user', content: [{ type: 'text', text }] }]
}

/** A call of each tool, and their results. */
export function results(...texts: string[]): LanguageModelV3Message[] {
  return [
    { role: 'assistant', content: texts.map((_text, n) => ({ type: 'tool-call', toolCallId: `c${n}`, toolName: 'look', input: {} })) },
    { role: 'tool', content: texts.map((value, n) => ({ type: 'tool-result', toolCallId: `c${n}`, toolName: 'look', output: { type: 'text', value } })) },
  ]
}
