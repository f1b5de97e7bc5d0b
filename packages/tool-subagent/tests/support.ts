import type { Agent } from '@offshoot/agent'
import * as modelAiSdk from '@offshoot/model-ai-sdk'
import { type Endpoint, messagesOf, type RecordedRequest, type Reply, startEndpoint } from '@offshoot/model-ai-sdk/testing'
import * as runtime from '@offshoot/runtime'
import type { ProviderRun, SubagentProvider, SubagentResult, SubagentRunInfo } from '@offshoot/subagent'
import { Context, type Fiber } from 'cordis'
import * as toolSubagent from '../src/index.ts'

export { gate } from '../../../tests/gate.ts'

export type ToolConfig = Partial<toolSubagent.Config>

/** The tools that the runtime itself brings, beside those under test. */
export const taskTools = ['task_kill', 'task_list', 'task_output']

/** A real app over a recording endpoint: the runtime, the endpoint's model, and one delegation tool per config. */
export class App implements AsyncDisposable {
  readonly ctx: Context
  readonly endpoint: Endpoint
  readonly ended: [SubagentRunInfo, SubagentResult][] = []

  private constructor(ctx: Context, endpoint: Endpoint) {
    this.ctx = ctx
    this.endpoint = endpoint
    ctx.on('subagent/end', (info, result) => { this.ended.push([info, result]) })
  }

  static async start(tools: ToolConfig[] = [{ provider: 'spawn' }], runtimeConfig: runtime.Input = {}): Promise<App> {
    const endpoint = await startEndpoint()
    const ctx = new Context()
    await ctx.plugin(runtime, runtimeConfig)
    await ctx.plugin(modelAiSdk, { baseURL: endpoint.baseURL, model: 'test-model' })
    for (const config of tools) await ctx.plugin(toolSubagent, config)
    await settled(ctx)
    return new App(ctx, endpoint)
  }

  agent(): Agent {
    return this.ctx.agents.create()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.ctx.fiber.dispose()
    await this.endpoint.close()
  }
}

/** The plugin of `ctx.tasks`, for taking it away. */
export function tasksPlugin({ registry }: Context): Fiber {
  return [...registry.values()].flatMap(plugin => [...plugin.fibers]).find(({ name }) => name === 'TaskService')!
}

/** Until nothing in the app is loading or unloading. */
export async function settled(ctx: Context): Promise<void> {
  for (;;) {
    const busy = [...ctx.registry.values()].flatMap(plugin => [...plugin.fibers]).filter(fiber => fiber.inertia)
    if (busy.length === 0) return
    await Promise.allSettled(busy.map(fiber => fiber.await()))
  }
}

export const parentTask = 'Find out what the child knows.'
export const childPrompt = 'Say what you know.\n  Keep this  spacing, “these” quotes and \u{1F54A}.'

export function isParent(request: RecordedRequest): boolean {
  return messagesOf(request)[0]?.content === parentTask
}

/** The arguments of a call that does not wait. */
export const inBackground = { description: 'look it up', prompt: 'Look it up.', run_in_background: true }

/** A provider named `odd` that starts children in its own way. */
export function oddProvider(start: SubagentProvider['start']): SubagentProvider {
  return { name: 'odd', inheritsParentContext: false, capabilities: { outputSchema: false, depthLimit: false, toolFilter: false, persona: false }, start }
}

/** A child that has ended as soon as it exists. */
export function endedRun(stopReason: string, text = ''): ProviderRun {
  return {
    result: Promise.resolve({
      stopReason: stopReason as SubagentResult['stopReason'],
      output: text === '' ? [] : [{ type: 'text', text }],
      usage: { steps: 1, toolCalls: 0, durationMs: 1 },
    }),
    dispose: async () => {},
  }
}

/** What a request's newest message says. */
export function lastMessage(request: RecordedRequest): ReturnType<typeof messagesOf>[number] {
  return messagesOf(request).at(-1)!
}

/** The parent delegates `childPrompt` once through `tool` and then answers; the child's requests are answered by `child`. */
export function delegateOnce(endpoint: Endpoint, child: Reply | ((request: RecordedRequest, index: number) => Reply | Promise<Reply>), tool = 'subagent'): void {
  let childRequests = 0
  endpoint.respond(request => {
    if (!isParent(request)) return typeof child === 'function' ? child(request, childRequests++) : child
    if (lastMessage(request).role === 'tool') return { text: 'The parent is done.' }
    return { calls: [{ id: 'call_delegate', name: tool, arguments: { description: 'ask the child', prompt: childPrompt } }] }
  })
}

/** What the parent's model was told of its call. */
export function toolResult(endpoint: Endpoint): string {
  const request = endpoint.requests.filter(isParent).at(-1)!
  const message = lastMessage(request)
  if (message.role !== 'tool') throw new Error(`the parent's last request ends with ${message.role}, not with a tool result`)
  return message.content as string
}
