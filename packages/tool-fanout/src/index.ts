import { suggest } from '@offshoot/problems'
import type {} from '@offshoot/subagent'
import type {} from '@offshoot/tasks'
import type {} from '@offshoot/tools'
import type {} from '@offshoot/worktree'
import { type Context, Service } from 'cordis'
import z from 'schemastery'
import type { WorktreePolicy } from './child.ts'
import { type CollectOptions, DEFAULT_MAX_PENDING, FanoutCore, type SpawnOptions } from './core.ts'
import { collectTool, spawnTool, type ToolNames } from './tools.ts'
import type { FanoutResult, FanoutSpec, SpawnEntry } from './types.ts'

export type { WorktreePolicy } from './child.ts'
export { type CollectOptions, DEFAULT_MAX_PENDING, MAX_SPAWN_LOG, type SpawnOptions } from './core.ts'
export { FanoutError, type FanoutErrorCode } from './error.ts'
export type { FanoutResult, FanoutSpec, SpawnEntry } from './types.ts'

declare module 'cordis' {
  interface Context {
    fanout: FanoutService
  }
}

export const name = 'tool-fanout'
export const inject = ['tools', 'subagents', 'tasks']

export interface Config extends ToolNames {
  /** Name of the `ctx.subagents` provider that runs the children. */
  provider: string
  /** How many children may await collection. At the cap, spawns are refused; nothing is ever dropped. */
  maxPending: number
  /** What becomes of a child's worktree after it. */
  worktree: WorktreePolicy
}

const toolName = /^[a-zA-Z0-9_-]{1,64}$/

export const Config: z<Partial<Config>, Config> = z.object({
  provider: z.string().required().description('Provider that runs the children (spawn, or one of yours).'),
  spawnToolName: z.string().pattern(toolName).default('spawn_subagent').description('What the model calls the tool that starts a child.'),
  collectToolName: z.string().pattern(toolName).default('collect_subagent').description('What the model calls the tool that waits for one.'),
  maxPending: z.natural().min(1).default(DEFAULT_MAX_PENDING).description('How many children may await collection.'),
  worktree: z.union(['keep', 'release-if-clean'] as const).default('keep').description('What becomes of a child\'s worktree after it.'),
})

/** The children of the first pair of tools of an app, for code. */
export class FanoutService extends Service {
  readonly core: FanoutCore

  constructor(ctx: Context, core: FanoutCore) {
    super(ctx, 'fanout')
    this.core = core
  }

  /** How many children may await collection. */
  get maxPending(): number {
    return this.core.maxPending
  }

  /** How many do. */
  get pendingCount(): number {
    return this.core.pendingCount
  }

  /** How many were spawned in all. */
  get spawnCount(): number {
    return this.core.spawnCount
  }

  /** The newest spawns, oldest first: a sample of at most `MAX_SPAWN_LOG`. */
  spawns(): readonly SpawnEntry[] {
    return this.core.spawns()
  }

  /**
   * Start a child; answers its id at once, after its worktree was made where it has one.
   *
   * @throws {FanoutError} with nothing left behind; the reason of `signal`.
   */
  spawn(spec: FanoutSpec, options: SpawnOptions): Promise<string> {
    return this.core.spawn(spec, options)
  }

  /**
   * Wait for a child. Again and again: the same result.
   *
   * @throws {FanoutError} `NOT_SUPPORTED` for one that is not there, `INTERNAL` for one that is lost or late; the reason of `signal`. Nothing is lost then.
   */
  collect(id: string, options?: CollectOptions): Promise<FanoutResult> {
    return this.core.collect(id, options)
  }
}

/** Apps whose `ctx.fanout` some instance provides. */
const provided = new WeakSet<Context>()

/** `FiberState.UNLOADING`: Cordis declares the enum so that it cannot be imported. */
const unloading = 5

export function apply(ctx: Context, config: Config): void {
  const { provider, spawnToolName, collectToolName } = config
  for (const tool of [spawnToolName, collectToolName]) ctx.tools.reserve(tool, ctx)
  const [subagents, tasks] = [ctx.subagents.core, ctx.tasks.core]
  const core = new FanoutCore(config, { subagents, tasks: () => tasks, worktrees: () => ctx.get('worktrees')?.core })
  ctx.on('agent/disposed', agent => { core.forget(agent) })
  // A service of a name can be there once. Settled at once: instances are loaded side by side.
  const { root } = ctx
  if (!provided.has(root)) {
    provided.add(root)
    ctx.effect(() => () => { provided.delete(root) }, 'fanout')
    ctx.plugin(FanoutService, core)
  }

  let unmount: (() => void)[] = []
  /** Make the tools follow what there is: the provider, and `ctx.worktrees`. */
  const remount = (): void => {
    for (const each of unmount) each()
    unmount = []
    if (!subagents.getProvider(provider) || ctx.fiber.uid === null || Number(ctx.fiber.state) === unloading) return
    unmount = [ctx.tools.register(spawnTool(core, config, ctx.get('worktrees') !== undefined)), ctx.tools.register(collectTool(core, config))]
  }
  ctx.on('subagent/provider-added', ({ name: added }) => { if (added === provider) remount() })
  ctx.on('subagent/provider-removed', removed => { if (removed === provider) remount() })
  remount()
  ctx.inject(['worktrees'], inner => {
    if (unmount.length > 0) remount()
    inner.effect(() => () => { if (unmount.length > 0) remount() }, 'worktrees')
  })
  ctx.get('problems')?.check(ctx, () => subagents.getProvider(provider)
    ? undefined
    : `tools "${spawnToolName}" and "${collectToolName}" wait for subagent provider "${provider}", which nobody registers${suggest(provider, subagents.list(), 'registered')}`)
}
