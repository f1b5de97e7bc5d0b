import { reportProblem, suggest } from '@offshoot/problems'
import { compileOutputSchema, type JsonSchema, missingCapability } from '@offshoot/subagent'
import { checkFilter, minOutputBytes } from '@offshoot/tools'
import type { TaskCore } from '@offshoot/tasks'
import type { WorktreeCore } from '@offshoot/worktree'
import type { Context } from 'cordis'
import z from 'schemastery'
import type { PartialOutput } from './render.ts'
import { delegationTool } from './tool.ts'

export const name = 'tool-subagent'
export const inject = ['tools', 'subagents']

export interface Config {
  /** Name of the `ctx.subagents` provider that runs the children. */
  provider: string
  /** What the model calls the tool; distinct for every instance. */
  toolName: string
  /** Lets calls run in the background, where the app has `ctx.tasks`. Off: such calls are refused. */
  enableRunInBackground: boolean
  agentOptions?: { model?: string, maxOutputTokens?: number, maxSteps?: number }
  /** Who the children are, instead of the app's persona. Needs the provider's `persona` capability. */
  persona?: string
  /** Which global tools the children see. Needs the provider's `toolFilter` capability. */
  toolFilter?: { allow?: string[], deny?: string[] }
  /** Absolute depth that the children may not exceed. Needs the provider's `depthLimit` capability. */
  maxDepth?: number
  /** What every child's answer has to fit; the caller's model reads its JSON. Needs the provider's `outputSchema` capability. */
  outputSchema?: JsonSchema
  /** How long a child may take, in milliseconds; only stricter than the app's own. */
  timeoutMs?: number
  /** Whether sibling calls may overlap. */
  concurrency: 'exclusive' | 'parallel'
  /** Whether an error also says what the child had written by then. */
  partialOutput: PartialOutput
  /** How much of a child's answer the caller's model reads, in the background too. Default: as of any tool. */
  maxOutputBytes?: number
  /** `worktree`: each child works in a git worktree of its own, made from its parent's checkout. Needs `ctx.worktrees`. */
  isolation: 'none' | 'worktree'
}

/** `FiberState.UNLOADING`: Cordis declares the enum so that it cannot be imported. */
const unloading = 5

// An absent filter stays absent: schemastery would make `{allow: [], deny: []}` of it, which hides every tool.
const absent = undefined as never

export const Config: z<Partial<Config>, Config> = z.object({
  provider: z.string().required().description('Provider that runs the children (spawn, or one of yours).'),
  toolName: z.string().pattern(/^[a-zA-Z0-9_-]{1,64}$/).default('subagent').description('What the model calls the tool.'),
  enableRunInBackground: z.boolean().default(true).description('Lets calls run in the background.'),
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
  // A JSON Schema is checked as one; schemastery would fill in what it does not name.
  outputSchema: z.any().description('JSON Schema of an object that the children\'s answers have to fit.'),
  timeoutMs: z.natural().min(1).description('How long a child may take, in ms.'),
  concurrency: z.union(['exclusive', 'parallel'] as const).default('exclusive').description('Whether sibling calls may overlap.'),
  partialOutput: z.union(['none', 'append'] as const).default('none').description('Whether an error also says what the child had written.'),
  maxOutputBytes: z.natural().min(minOutputBytes).description('How much of an answer the caller\'s model reads, in bytes.'),
  isolation: z.union(['none', 'worktree'] as const).default('none').description('Whether each child works in a git worktree of its own.'),
})

export function apply(ctx: Context, config: Config): void {
  const { provider: providerName, toolName, toolFilter, outputSchema, isolation } = config
  if (toolFilter) checkFilter(toolFilter)
  if (outputSchema !== undefined) compileOutputSchema(outputSchema)
  ctx.tools.reserve(toolName, ctx)

  const subagents = ctx.subagents.core
  const tools = ctx.tools.core
  let background: TaskCore | undefined
  let worktrees: WorktreeCore | undefined
  let unmount: (() => void) | undefined

  /** Make what is mounted follow what there is: the provider, and `ctx.tasks`. In one go, so that nobody finds it absent in between. */
  const remount = (): void => {
    unmount?.()
    unmount = undefined
    const provider = subagents.getProvider(providerName)
    // A plugin that is unloading registers nothing any more.
    if (!provider || ctx.fiber.uid === null || Number(ctx.fiber.state) === unloading) return
    // Nobody is let loose on what was to be kept from them.
    if (isolation === 'worktree' && !worktrees) return
    const missing = missingCapability(provider, config)
    unmount = missing === undefined
      ? ctx.tools.register(delegationTool({ subagents, provider, background, worktrees, spills: tools.spills }, config))
      : reportProblem(ctx, new Error(missing))
  }

  ctx.on('subagent/provider-added', ({ name: added }) => { if (added === providerName) remount() })
  ctx.on('subagent/provider-removed', removed => { if (removed === providerName) remount() })
  remount()
  // Optional: the tool is there without it, and then waits for every child.
  if (config.enableRunInBackground) ctx.inject(['tasks'], inner => {
    const follow = (tasks: TaskCore | undefined): void => {
      background = tasks
      // The name is this plugin's own. Where no tool has it, there is nothing that tasks would change.
      if (tools.tools.has(toolName)) remount()
    }
    follow(inner.tasks.core)
    inner.effect(() => () => { follow(undefined) }, 'background mode')
  })

  if (isolation === 'worktree') ctx.inject(['worktrees'], inner => {
    const follow = (there: WorktreeCore | undefined): void => {
      worktrees = there
      remount()
    }
    follow(inner.worktrees.core)
    inner.effect(() => () => { follow(undefined) }, 'isolation')
  })

  const problems = ctx.get('problems')
  problems?.check(ctx, () => subagents.getProvider(providerName)
    ? undefined
    : `tool "${toolName}" waits for subagent provider "${providerName}", which nobody registers${suggest(providerName, subagents.list(), 'registered')}`)
  if (isolation === 'worktree') problems?.check(ctx, () => worktrees ? undefined : `tool "${toolName}" isolates its children in worktrees, and nothing makes any; load @offshoot/worktree`)
  if (toolFilter) problems?.check(ctx, () => tools.unknownNames(toolFilter))
}
