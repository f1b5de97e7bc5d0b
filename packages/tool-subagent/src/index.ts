import { reportProblem, suggest } from '@offshoot/problems'
import { missingCapability, type SubagentProvider } from '@offshoot/subagent'
import { checkFilter } from '@offshoot/tools'
import type { Context } from 'cordis'
import z from 'schemastery'
import { delegationTool } from './tool.ts'

export const name = 'tool-subagent'
export const inject = ['tools', 'subagents']

export interface Config {
  /** Name of the `ctx.subagents` provider that runs the children. */
  provider: string
  /** What the model calls the tool; distinct for every instance. */
  toolName: string
  agentOptions?: { model?: string, maxOutputTokens?: number, maxSteps?: number }
  /** Who the children are, instead of the app's persona. Needs the provider's `persona` capability. */
  persona?: string
  /** Which global tools the children see. Needs the provider's `toolFilter` capability. */
  toolFilter?: { allow?: string[], deny?: string[] }
  /** Absolute depth that the children may not exceed. Needs the provider's `depthLimit` capability. */
  maxDepth?: number
  /** Whether sibling calls may overlap. */
  concurrency: 'exclusive' | 'parallel'
}

// An absent filter stays absent: schemastery would make `{allow: [], deny: []}` of it, which hides every tool.
const absent = undefined as never

export const Config: z<Partial<Config>, Config> = z.object({
  provider: z.string().required().description('Provider that runs the children (spawn, or one of yours).'),
  toolName: z.string().pattern(/^[a-zA-Z0-9_-]{1,64}$/).default('subagent').description('What the model calls the tool.'),
  agentOptions: z.object({
    model: z.string(),
    maxOutputTokens: z.natural().min(1),
    maxSteps: z.natural().min(1),
  }).default(absent).description('Options of the children\'s agents.'),
  persona: z.string().description('Who the children are.'),
  toolFilter: z.object({
    allow: z.array(z.string()).default(absent),
    deny: z.array(z.string()).default(absent),
  }).default(absent).description('Which global tools the children see.'),
  maxDepth: z.natural().description('Absolute depth that the children may not exceed.'),
  concurrency: z.union(['exclusive', 'parallel'] as const).default('exclusive').description('Whether sibling calls may overlap.'),
})

export function apply(ctx: Context, config: Config): void {
  const { provider: providerName, toolName, toolFilter } = config
  if (toolFilter) checkFilter(toolFilter)
  ctx.tools.reserve(toolName, ctx)

  const subagents = ctx.subagents.core
  const tools = ctx.tools.core
  let unmount: (() => void) | undefined

  const mount = (provider: SubagentProvider): void => {
    if (provider.name !== providerName) return
    const missing = missingCapability(provider, config)
    unmount = missing === undefined
      ? ctx.tools.register(delegationTool(subagents, provider, config))
      : reportProblem(ctx, new Error(missing))
  }

  ctx.on('subagent/provider-added', mount)
  ctx.on('subagent/provider-removed', removed => {
    if (removed !== providerName) return
    unmount?.()
    unmount = undefined
  })
  const provider = subagents.getProvider(providerName)
  if (provider) mount(provider)

  const problems = ctx.get('problems')
  problems?.check(ctx, () => subagents.getProvider(providerName)
    ? undefined
    : `tool "${toolName}" waits for subagent provider "${providerName}", which nobody registers${suggest(providerName, subagents.list(), 'registered')}`)
  if (toolFilter) problems?.check(ctx, () => tools.unknownNames(toolFilter))
}
