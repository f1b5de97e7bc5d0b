import ModelService, { type LanguageModel, type ModelRequest, type ModelStream, type ModelStreamPart } from '@offshoot/model'
import { type FakeModel, type FakeReply, fakeModel } from '@offshoot/model/testing'
import SessionService, { type Message, type Session, type ToolResultPart } from '@offshoot/session'
import ToolService, { defineTool, type Tool, type ToolDefinition } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { Context } from 'cordis'
import { expect, onTestFinished, vi } from 'vitest'
import AgentService, { type Agent, type AgentEvent, type Notice } from '../src/index.ts'

export { type Gate, gate } from '../../../tests/gate.ts'

export type Script = readonly (FakeReply | string)[] | ((request: ModelRequest, index: number) => FakeReply | string | Promise<FakeReply | string>)

export interface App {
  readonly ctx: Context
  readonly model: FakeModel
  /** What went to the log of warnings. */
  readonly logged: unknown[]
}

/** A real app whose model `main` answers by `script`; what the test adds goes with it. */
export async function start(script: Script = [], config: Partial<AgentService.Config> = {}, tools: Partial<ToolService.Config> = {}): Promise<App> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  for (const service of [SessionService, ModelService]) await ctx.plugin(service)
  await ctx.plugin(ToolService, tools)
  await ctx.plugin(AgentService, config)
  const model = fakeModel(typeof script === 'function' ? script : (_request, index) => script[index] ?? {})
  ctx.models.register('main', model)
  const logged: unknown[] = []
  ctx.logger.exporter({ colors: false, levels: { default: 3 }, export: ({ args }: { args: unknown[] }) => { logged.push(args[0]) } } as never)
  return { ctx, model, logged }
}

/** A model that streams in another way what `model` streams. */
export function streamingAs(model: LanguageModel, convert: (parts: ReadableStream<ModelStreamPart>) => ModelStream): LanguageModel {
  return { ...model, doStream: async request => ({ stream: convert((await model.doStream(request)).stream as ReadableStream<ModelStreamPart>) }) }
}

type ToolParts = Partial<Omit<ToolDefinition, 'name'>>

/** A tool without parameters that answers with its name, unless told otherwise. */
export function tool(name: string, parts: ToolParts = {}): Tool {
  return defineTool({ description: `Does ${name}.`, parameters: Type.Object({}), execute: () => `${name} done`, ...parts, name })
}

/** The last part of a stream that ends by itself. */
export function finish(unified: 'stop' | 'tool-calls' | 'length' = 'stop'): ModelStreamPart {
  return {
    type: 'finish', finishReason: { unified, raw: unified },
    usage: {
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    },
  }
}

export function messagesOf(session: Session): Message[] {
  return session.entries().map(({ message }) => message)
}

/** What the log says, in short: `user`, `assistant: text call(name)`, `tool: result`. */
export function transcript(session: Session): string[] {
  return messagesOf(session).map(message => {
    if (typeof message.content === 'string') return `${message.role}: ${message.content}`
    return `${message.role}: ${message.content.map(part => {
      if (part.type === 'tool-call') return `call(${part.toolName})`
      if (part.type === 'tool-result') return resultText(part)
      return 'text' in part ? part.text : part.type
    }).join(' ')}`
  })
}

function resultText({ output }: ToolResultPart): string {
  return output.type === 'text' || output.type === 'error-text' ? output.value : output.type
}

/** The results that answered the calls of the log, in order. */
export function resultsOf(session: Session): ToolResultPart['output'][] {
  return messagesOf(session).flatMap(message => message.role === 'tool' ? message.content.flatMap(part => part.type === 'tool-result' ? [part.output] : []) : [])
}

/** Every tool call that is ours to answer has its result, in order, in the message right after it; and nothing else answers. */
export function expectBalanced(session: Session): void {
  const messages = messagesOf(session)
  messages.forEach((message, i) => {
    const calls = message.role === 'assistant' ? message.content.flatMap(part => part.type === 'tool-call' && !part.providerExecuted ? [part.toolCallId] : []) : []
    const next = messages[i + 1]
    const results = next?.role === 'tool' ? next.content.flatMap(part => part.type === 'tool-result' ? [part.toolCallId] : []) : []
    expect(results).toEqual(calls)
  })
}

/** Each request begins with the whole of the one before it. */
export function expectExtending(requests: readonly ModelRequest[]): void {
  for (let i = 1; i < requests.length; i++) {
    const [before, after] = [requests[i - 1]!.prompt, requests[i]!.prompt]
    expect(JSON.stringify(after.slice(0, before.length))).toBe(JSON.stringify(before))
    expect(after.length).toBeGreaterThan(before.length)
  }
}

/** What `agent` does from here on. */
export function record(agent: Agent): AgentEvent[] {
  const events: AgentEvent[] = []
  agent.on(event => { events.push(event) })
  return events
}

/** For what must wait until it is cancelled. */
export const never: Promise<never> = new Promise(() => {})

/** Something to tell, which says it as long as nobody took it back, and counts how often it was told. */
export class Note implements Notice {
  told = 0
  private words: string | undefined

  constructor(words: string) {
    this.words = words
  }

  text(): string | undefined {
    return this.words
  }

  delivered(): void {
    this.told++
  }

  takeBack(): void {
    this.words = undefined
  }
}

/** Everything that can go on by itself has done so. */
export async function rest(): Promise<void> {
  for (let tick = 0; tick < 4; tick++) await new Promise<void>(resolve => { setImmediate(resolve) })
}

/** Timeouts that only the test lets pass, until it ends. The event loop goes on by itself. */
export function fakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => { vi.useRealTimers() })
}
