import AgentService, { type Agent } from '@offshoot/agent'
import ModelService from '@offshoot/model'
import { fakeModel } from '@offshoot/model/testing'
import SessionService from '@offshoot/session'
import SubagentService, { type SubagentRun, type SubagentStartRequest } from '@offshoot/subagent'
import ToolService from '@offshoot/tools'
import { Context } from 'cordis'
import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { markedWith } from '../../../tests/survivors.ts'
import * as acp from '../src/index.ts'
import { fakeAgent, FakeAgentFiles, type FakeAgentOptions } from '../src/testing.ts'

const variable = 'OFFSHOOT_ACP_TEST'

/** An app with the provider over fake agents, and a parent. All of it goes when the test ends. */
export interface AcpApp {
  readonly ctx: Context
  readonly parent: Agent
  readonly files: FakeAgentFiles
  /** What was logged. */
  readonly logged: string[]
  start(overrides?: Partial<SubagentStartRequest>): Promise<SubagentRun>
  /** Command lines of what still lives of the agents, and of what they started. */
  survivors(): string[]
}

/** What marks the processes of one test. */
export function newTestMark(): { readonly env: Record<string, string>, readonly survivors: () => string[] } {
  const id = randomUUID()
  return { env: { [variable]: id }, survivors: () => markedWith(`${variable}=${id}`) }
}

/** A fake agent; with the words of a command that starts it, where something else is to do that. */
export type TestAgent = FakeAgentOptions & { readonly through?: readonly [string, ...string[]] }

export function commandOf({ through, ...options }: TestAgent): { readonly command: string, readonly args: string[] } {
  const { command, args } = fakeAgent(options)
  if (!through) return { command, args }
  const [first, ...words] = through
  return { command: first, args: [...words, command, ...args] }
}

export async function startApp(agent: TestAgent = {}, config: Partial<acp.Input> = {}, service: SubagentService.Input = {}): Promise<AcpApp> {
  const ctx = new Context()
  const files = new FakeAgentFiles()
  const mark = newTestMark()
  const logged: string[] = []
  onTestFinished(async () => {
    await ctx.fiber.dispose()
    files.dispose()
  })
  ctx.logger.exporter({ colors: false, levels: { default: 3 }, export: ({ args }: { args: unknown[] }) => { logged.push(args.join(' ')) } } as never)
  for (const plugin of [SessionService, ModelService, ToolService]) await ctx.plugin(plugin)
  await ctx.plugin(AgentService, {})
  await ctx.plugin(SubagentService, service)
  ctx.models.register('main', fakeModel(() => ({ text: 'parent' })))
  await ctx.plugin(acp, { ...commandOf({ ...files.options, ...agent }), ...config, env: { ...mark.env, ...config.env } })
  const parent = ctx.agents.create()
  return {
    ctx, parent, files, logged,
    survivors: mark.survivors,
    start: overrides => ctx.subagents.start(config.name ?? 'acp', { prompt: 'Say hello.', parent, signal: new AbortController().signal, ...overrides }),
  }
}
