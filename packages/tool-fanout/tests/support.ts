import type { Agent } from '@offshoot/agent'
import { type FakeModel, fakeModel, type FakeReply } from '@offshoot/model/testing'
import type { ModelRequest } from '@offshoot/model'
import * as runtime from '@offshoot/runtime'
import * as toolFiles from '@offshoot/tool-files'
import * as toolShell from '@offshoot/tool-shell'
import WorktreeService from '@offshoot/worktree'
import { Context } from 'cordis'
import { onTestFinished } from 'vitest'
import { settled } from '../../tool-subagent/tests/support.ts'
import * as toolFanout from '../src/index.ts'

export { gate } from '../../../tests/gate.ts'
export { git, newFolder, newRepo } from '../../../tests/git.ts'

export interface App {
  readonly ctx: Context
  readonly model: FakeModel
}

export interface Answer {
  readonly isError: boolean
  readonly text: string
}

/** What the last message of a request says. */
export function lastText({ prompt }: ModelRequest): string {
  const content = prompt.at(-1)!.content
  return typeof content === 'string' ? content : content.map(part => {
    if (part.type === 'text') return part.text
    return part.type === 'tool-result' && (part.output.type === 'text' || part.output.type === 'error-text') ? part.output.value : ''
  }).join('')
}

/** A real app whose model answers as told; `trees`: where it makes worktrees, if it does. */
export async function startApp(reply: (request: ModelRequest) => FakeReply | string | Promise<FakeReply | string>, config: Partial<toolFanout.Config> = {}, trees?: string): Promise<App> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(runtime, {})
  await ctx.plugin(toolShell, {})
  await ctx.plugin(toolFiles, {})
  if (trees !== undefined) await ctx.plugin(WorktreeService, { dir: trees, timeoutMs: 20_000 })
  await ctx.plugin(toolFanout, { provider: 'spawn', ...config })
  await settled(ctx)
  const model = fakeModel(reply)
  ctx.models.register('main', model)
  return { ctx, model }
}

/** One call of a tool by `agent`, as its model reads the result. */
async function call(agent: Agent, tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<Answer> {
  const { isError, content } = await agent.tools.execute(tool, args, { callId: 'c', agent, ...signal ? { signal } : {} })
  return { isError, text: content.map(block => block.type === 'text' ? block.text : block.type).join('') }
}

export const spawn = (agent: Agent, args: Record<string, unknown>, signal?: AbortSignal): Promise<Answer> => call(agent, 'spawn_subagent', args, signal)
export const collect = (agent: Agent, id: string, more: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Answer> => call(agent, 'collect_subagent', { subagent_id: id, ...more }, signal)
