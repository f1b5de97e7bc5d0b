import AgentService, { type Agent } from '@offshoot/agent'
import ModelService from '@offshoot/model'
import { type FakeModel, fakeModel } from '@offshoot/model/testing'
import SessionService from '@offshoot/session'
import ToolService from '@offshoot/tools'
import { Context } from 'cordis'
import { onTestFinished } from 'vitest'
import SubagentService, { type ProviderRun, type ProviderStartRequest, type SubagentCapabilities, type SubagentProvider, type SubagentResult, type SubagentStartRequest } from '../src/index.ts'

export { gate } from '../../../tests/gate.ts'

export { ended } from './small-provider.ts'

/** `result`, as the service hands it on: with its account. */
export function settled(result: SubagentResult): SubagentResult {
  return { ...result, totalUsage: result.usage }
}

export interface App {
  readonly ctx: Context
  readonly parent: Agent
  readonly model: FakeModel
  /** `subagent/*` events in short, oldest first. */
  readonly events: string[]
  /** What went to the log of warnings. */
  readonly logged: unknown[]
  /** Start a child of `parent` with provider `name`. */
  start(name: string, request?: Partial<SubagentStartRequest>): ReturnType<SubagentService['start']>
}

const neverAborts = new AbortController().signal

/** A real app without providers, whose model says `ok` unless told otherwise. */
export async function startApp(config: SubagentService.Input = {}, reply: Parameters<typeof fakeModel>[0] = () => 'ok'): Promise<App> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  for (const service of [SessionService, ModelService, ToolService]) await ctx.plugin(service)
  await ctx.plugin(AgentService, {})
  await ctx.plugin(SubagentService, config)
  const model = fakeModel(reply)
  ctx.models.register('main', model)
  const logged: unknown[] = []
  ctx.logger.exporter({ colors: false, levels: { default: 3 }, export: ({ args }: { args: unknown[] }) => { logged.push(args[0]) } } as never)
  const events: string[] = []
  ctx.on('subagent/provider-added', ({ name }) => { events.push(`added ${name}`) })
  ctx.on('subagent/provider-removed', name => { events.push(`removed ${name}`) })
  ctx.on('subagent/start', ({ runId }) => { events.push(`start ${runId}`) })
  ctx.on('subagent/end', ({ runId }, { stopReason }) => { events.push(`end ${runId} ${stopReason}`) })
  const parent = ctx.agents.create({ label: 'parent' })
  return {
    ctx, parent, model, events, logged,
    start: (name, request) => ctx.subagents.start(name, { prompt: 'Say hello.', parent, signal: neverAborts, ...request }),
  }
}

export const able: SubagentCapabilities = { outputSchema: true, depthLimit: true, toolFilter: true, persona: true }
export const unable: SubagentCapabilities = { outputSchema: false, depthLimit: false, toolFilter: false, persona: false }

/** A provider that does what `start` does. */
export function provider(name: string, start: (request: ProviderStartRequest) => ProviderRun | Promise<ProviderRun> = () => idleRun(), capabilities: SubagentCapabilities = able): SubagentProvider {
  return { name, capabilities, inheritsParentContext: false, start: async request => start(request) }
}

/** A child that does nothing until it is disposed, and never says how it ended. */
export function idleRun(parts: Partial<ProviderRun> = {}): ProviderRun {
  return { result: never, dispose: async () => {}, ...parts }
}

export const never: Promise<never> = new Promise(() => {})

/** Let everything that is ready run. */
export async function turnOfTheLoop(): Promise<void> {
  await new Promise(resolve => { setImmediate(resolve) })
}
