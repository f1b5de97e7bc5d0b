import type { Agent } from '@offshoot/agent'
import type { ModelRequest } from '@offshoot/model'
import { type FakeModel, fakeModel } from '@offshoot/model/testing'
import * as runtime from '@offshoot/runtime'
import { defineTool, type ToolEffect } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { Context } from 'cordis'
import { onTestFinished } from 'vitest'
import type { Approval, Verdict } from '../src/index.ts'

export interface App {
  readonly ctx: Context
  readonly model: FakeModel
  /** Calls of the tools below that really ran. */
  readonly ran: string[]
  readonly asked: Approval[]
  readonly settled: [Approval, Verdict][]
  readonly logged: unknown[]
}

/** A real app with tools of each effect, whose model answers as told. Nobody attends. */
export async function startApp(config: runtime.Input['approvals'] = {}, reply: Parameters<typeof fakeModel>[0] = callsThenOk, more: runtime.Input = {}): Promise<App> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  const logged: unknown[] = []
  ctx.logger.exporter({ colors: false, levels: { default: 3 }, export: ({ args }: { args: unknown[] }) => { logged.push(args[0]) } } as never)
  await ctx.plugin(runtime, { ...more, approvals: config })
  for (let busy = true; busy;) {
    const fibers = [...ctx.registry.values()].flatMap(plugin => [...plugin.fibers]).filter(fiber => fiber.inertia)
    busy = fibers.length > 0
    await Promise.allSettled(fibers.map(fiber => fiber.await()))
  }
  const model = fakeModel(reply)
  ctx.models.register('main', model)
  const ran: string[] = []
  for (const [name, effect] of [['look', 'read'], ['write', 'write'], ['act', 'execute'], ['mystery', undefined]] as [string, ToolEffect | undefined][]) {
    ctx.tools.register(defineTool({
      name, description: 'Runs.', parameters: Type.Object({ what: Type.Optional(Type.String()) }), concurrency: 'parallel', ...(effect ? { effect } : {}),
      execute: ({ what = '' }) => {
        ran.push(what === '' ? name : `${name} ${what}`)
        return `${name} ran`
      },
    }))
  }
  const asked: Approval[] = []
  const settled: [Approval, Verdict][] = []
  ctx.on('approval/asked', approval => { asked.push(approval) })
  ctx.on('approval/settled', (approval, verdict) => { settled.push([approval, verdict]) })
  return { ctx, model, ran, asked, settled, logged }
}

/** Calls the tools that the task names, one after the other in one step; then says `ok`. */
function callsThenOk({ prompt }: ModelRequest): { calls: { name: string, args: object }[] } | string {
  const last = prompt.at(-1)!
  if (last.role !== 'user') return 'ok'
  const text = last.content.map(part => part.type === 'text' ? part.text : '').join('')
  return { calls: text.split('; ').map(call => ({ name: call.split(' ')[0]!, args: call.includes(' ') ? { what: call.slice(call.indexOf(' ') + 1) } : {} })) }
}

/** What a model read, with this request, as the results of the latest calls. */
export function resultsOf(request: ModelRequest | undefined): string[] {
  const last = request?.prompt.at(-1)
  return last?.role === 'tool' ? last.content.map(part => part.type === 'tool-result' && 'value' in part.output && typeof part.output.value === 'string' ? part.output.value : '') : []
}

/** The same, of the last request. */
export function resultsIn({ requests }: FakeModel): string[] {
  return resultsOf(requests.at(-1))
}

/** An agent's turn in which it makes these calls. Answers what its model read as their results. */
export async function results(app: App, calls: string, agent: Agent = app.ctx.agents.create()): Promise<string[]> {
  await agent.run(calls)
  return resultsIn(app.model)
}
