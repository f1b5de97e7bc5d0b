import type { Agent, AgentOptions } from '@offshoot/agent'
import * as modelAiSdk from '@offshoot/model-ai-sdk'
import { type Endpoint, messagesOf, type RecordedRequest, type Reply, startEndpoint, type WireMessage } from '@offshoot/model-ai-sdk/testing'
import type { SubagentResult, SubagentRunInfo } from '@offshoot/subagent'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { Context } from 'cordis'
import * as runtime from '../../runtime/src/index.ts'
import * as toolSubagent from '../../tool-subagent/src/index.ts'
import { settled } from '../../tool-subagent/tests/support.ts'

export interface AppOptions {
  readonly seed?: 'turns' | 'steps'
  /** Of the delegation tool. */
  readonly tool?: Partial<toolSubagent.Config>
  readonly runtime?: runtime.Input
}

/** A real app over a recording endpoint: two tools that look things up, and one that delegates to forks. */
export class App implements AsyncDisposable {
  readonly ctx: Context
  readonly endpoint: Endpoint
  readonly started: SubagentRunInfo[] = []
  readonly ended: [SubagentRunInfo, SubagentResult][] = []

  private constructor(ctx: Context, endpoint: Endpoint) {
    this.ctx = ctx
    this.endpoint = endpoint
    ctx.on('subagent/start', info => { this.started.push(info) })
    ctx.on('subagent/end', (info, result) => { this.ended.push([info, result]) })
  }

  static async start({ seed = 'turns', tool, runtime: config }: AppOptions = {}): Promise<App> {
    const endpoint = await startEndpoint(request => {
      const { verdict } = judge(request)
      return verdict === undefined ? { text: 'ok' } : { status: 400, error: verdict }
    })
    const ctx = new Context()
    await ctx.plugin(runtime, { agent: { model: 'main' }, ...config, fork: { seed } })
    for (const name of ['main', 'other']) await ctx.plugin(modelAiSdk, { name, baseURL: endpoint.baseURL, model: `${name}-model` })
    for (const name of ['look_up', 'look_again']) {
      ctx.tools.register(defineTool({ name, description: name, parameters: Type.Object({}), concurrency: 'parallel', execute: () => `${name}: on the shelf` }))
    }
    await ctx.plugin(toolSubagent, { provider: 'fork', ...tool })
    await settled(ctx)
    return new App(ctx, endpoint)
  }

  agent(options?: AgentOptions): Agent {
    return this.ctx.agents.create(options)
  }

  /** Answer every request that a strict endpoint would accept with `script`, and refuse the others. */
  script(script: (request: RecordedRequest) => Reply | Promise<Reply>): void {
    this.endpoint.respond(request => {
      const { verdict } = judge(request)
      return verdict === undefined ? script(request) : { status: 400, error: verdict }
    })
  }

  /** The requests of the children, oldest first. */
  get children(): RecordedRequest[] {
    return this.endpoint.requests.filter(isChild)
  }

  get parents(): RecordedRequest[] {
    return this.endpoint.requests.filter(request => !isChild(request))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.ctx.fiber.dispose()
    await this.endpoint.close()
  }
}

const pin = 'You are now a subagent: '

export function isChild(request: RecordedRequest): boolean {
  return messagesOf(request).some(isPin)
}

export function isPin({ role, content }: WireMessage): boolean {
  return role === 'user' && typeof content === 'string' && content.startsWith(pin)
}

export function lastOf(request: RecordedRequest): WireMessage {
  return request.body.messages.at(-1)!
}

/** A call of the delegation tool. */
export function delegate(prompt = 'Sum it up.', id?: string): NonNullable<Reply['calls']>[number] {
  return { name: 'subagent', arguments: { description: 'the task', prompt }, ...(id === undefined ? {} : { id }) }
}

/** Whether the bytes of `later`'s messages begin with those of the first `count` of `earlier`'s, and both offer the same tools. */
export function repeats(later: RecordedRequest, earlier: RecordedRequest, count: number): boolean {
  const [before, after] = [earlier, later].map(({ text, body }) => {
    const messages = JSON.stringify(body.messages)
    if (!text.includes(`"messages":${messages}`)) throw new Error('the request body is not compact JSON, so its bytes cannot be compared')
    return body.messages
  })
  const head = JSON.stringify(before!.slice(0, count)).slice(0, -1)
  return JSON.stringify(after).startsWith(`${head},`) && JSON.stringify(later.body.tools) === JSON.stringify(earlier.body.tools)
}

/** What a strict endpoint says of a request: the sentence of its refusal, if it refuses. */
export function judge({ body: { messages } }: RecordedRequest): { verdict?: string } {
  const refused = (at: number, why: string) => ({ verdict: `messages[${at}] (${messages[at]?.role ?? 'nothing'}): ${why}` })
  if (messages[0]?.role !== 'system') return refused(0, 'the first message must be the system text')
  for (let i = 1; i < messages.length; i++) {
    const { role, content, tool_calls: calls } = messages[i]!
    if (role === 'user') {
      if (!content) return refused(i, 'a user message must not be empty')
    } else if (role === 'assistant') {
      if (!content && !calls?.length) return refused(i, 'an assistant message must say or call something')
      for (const { id } of calls ?? []) {
        const answer = messages[++i]
        if (answer?.role !== 'tool' || answer.tool_call_id !== id) return refused(i, `call ${id} must be answered here`)
      }
    } else {
      return refused(i, 'no such message is expected here')
    }
  }
  if (messages.at(-1)!.role === 'assistant') return refused(messages.length - 1, 'the conversation must not end with the assistant')
  return {}
}
