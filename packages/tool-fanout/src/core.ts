import type { Agent } from '@offshoot/agent'
import { missingCapability, type SubagentCore } from '@offshoot/subagent'
import type { TaskCore } from '@offshoot/tasks'
import { type Worktree, type WorktreeCore, WorktreeError } from '@offshoot/worktree'
import { Child, type WorktreePolicy } from './child.ts'
import { FanoutError } from './error.ts'
import type { FanoutResult, FanoutSpec, SpawnEntry } from './types.ts'

/** How many children may await collection, where nobody says. */
export const DEFAULT_MAX_PENDING = 1024
/** How many spawns the log keeps: the newest. */
export const MAX_SPAWN_LOG = 4096
/** How many results are kept for another reading after they were collected. */
const maxCollected = 1024

export interface FanoutOptions {
  readonly provider: string
  readonly maxPending: number
  readonly worktree: WorktreePolicy
}

export interface FanoutServices {
  readonly subagents: SubagentCore
  readonly tasks: () => TaskCore | undefined
  readonly worktrees: () => WorktreeCore | undefined
}

export interface SpawnOptions {
  /** Whose child it is: it alone may collect it, beside code. */
  readonly parent: Agent
  /** Covers the spawn, not the child. */
  readonly signal?: AbortSignal | undefined
  readonly tool?: { readonly name: string, readonly callId: string } | undefined
}

export interface CollectOptions {
  /** Only what is this agent's. */
  readonly owner?: Agent | undefined
  /** Ends the waiting; nothing is lost. */
  readonly signal?: AbortSignal | undefined
  /** Default: as long as it takes. */
  readonly timeoutMs?: number | undefined
}

/** The children of one pair of tools: those that await collection, and those that were collected last. */
export class FanoutCore {
  readonly maxPending: number
  private readonly options: FanoutOptions
  private readonly services: FanoutServices
  private readonly pending = new Map<string, Child>()
  private readonly collected = new Map<string, Child>()
  private readonly log: SpawnEntry[] = []
  /** Spawns that are at it: they have their place before git is asked for anything. */
  private spawning = 0
  private count = 0

  /** @throws {FanoutError} `VALIDATION` for a cap of zero. */
  constructor(options: FanoutOptions, services: FanoutServices) {
    if (!(options.maxPending >= 1)) throw new FanoutError('VALIDATION', `maxPending must be 1 or more, not ${options.maxPending}`)
    this.options = options
    this.services = services
    this.maxPending = options.maxPending
  }

  get pendingCount(): number {
    return this.pending.size + this.spawning
  }

  get spawnCount(): number {
    return this.count
  }

  spawns(): readonly SpawnEntry[] {
    return [...this.log]
  }

  async spawn(spec: FanoutSpec, { parent, signal, tool }: SpawnOptions): Promise<string> {
    signal?.throwIfAborted()
    const tasks = this.services.tasks()
    if (!tasks) throw new FanoutError('NOT_SUPPORTED', 'children run as background tasks, and the app has no ctx.tasks; load @offshoot/tasks')
    this.checkProvider(spec)
    if (this.pendingCount >= this.maxPending) {
      throw new FanoutError('INTERNAL', `${this.pendingCount} children await collection and ${this.maxPending} may (maxPending); collect some first${listed(this.idsOf(parent))}`)
    }
    this.spawning++
    let worktree: Worktree | undefined
    try {
      worktree = spec.worktree && await this.makeWorktree(spec.worktree, parent, signal)
    } finally {
      this.spawning--
    }
    try {
      signal?.throwIfAborted()
      // In one go from here on: whoever comes next has the next id.
      return this.begin(tasks, spec, { parent, tool }, worktree)
    } catch (error) {
      // Nobody has worked in it.
      await worktree?.release()
      throw error
    }
  }

  async collect(id: string, { owner, signal, timeoutMs }: CollectOptions = {}): Promise<FanoutResult> {
    const child = this.need(id, owner)
    signal?.throwIfAborted()
    if (!await settles(this.services.tasks(), child, signal, timeoutMs)) throw new FanoutError('INTERNAL', `${id} has not ended after ${timeoutMs} ms; go on with other work, and collect it again`)
    const result = child.ended
    if (!result) throw new FanoutError('INTERNAL', `${id} is lost: its task ended without a result`)
    this.keep(child)
    // Displays tell who was read from who was not.
    this.services.tasks()?.consume(child.task.id)
    return result
  }

  /** The agent is gone: nobody can collect its children but code, and they do not count as pending. */
  forget(owner: Agent): void {
    for (const child of this.pending.values()) {
      if (child.owner === owner) this.keep(child)
    }
  }

  /** Those that `owner` may collect, oldest first. */
  idsOf(owner: Agent): string[] {
    return [...this.pending.values()].filter(child => child.owner === owner).map(({ id }) => id)
  }

  private begin(tasks: TaskCore, { task, name = '', toolScope = [], sessionId }: FanoutSpec, { parent, tool }: SpawnOptions, worktree: Worktree | undefined): string {
    const id = `sub-${this.count}`
    const child = new Child(tasks, this.services.subagents, {
      id, provider: this.options.provider, worktree, policy: this.options.worktree, tool,
      request: {
        prompt: task, parent, label: name === '' ? id : name,
        ...toolScope.length > 0 ? { toolFilter: { allow: [...toolScope] } } : {},
        ...worktree ? { cwd: worktree.cwd } : {},
      },
    })
    this.count++
    this.pending.set(id, child)
    this.log.push({ subagentId: id, name, parentSession: sessionId ?? parent.session.id, at: Date.now(), ...worktree ? { worktreePath: worktree.path } : {} })
    if (this.log.length > MAX_SPAWN_LOG) this.log.shift()
    return id
  }

  /** It is not pending any more. Its result can be read again for a while. */
  private keep(child: Child): void {
    this.pending.delete(child.id)
    this.collected.delete(child.id)
    this.collected.set(child.id, child)
    const [oldest] = this.collected.keys()
    if (this.collected.size > maxCollected && oldest !== undefined) this.collected.delete(oldest)
  }

  private checkProvider({ toolScope = [] }: FanoutSpec): void {
    const { provider: name } = this.options
    const provider = this.services.subagents.getProvider(name)
    if (!provider) throw new FanoutError('NOT_SUPPORTED', `no subagent provider "${name}" is registered (registered: ${this.services.subagents.list().join(', ') || 'none'})`)
    const missing = toolScope.length > 0 ? missingCapability(provider, { toolFilter: { allow: [...toolScope] } }) : undefined
    if (missing !== undefined) throw new FanoutError('NOT_SUPPORTED', missing)
  }

  private async makeWorktree(asked: NonNullable<FanoutSpec['worktree']>, parent: Agent, signal: AbortSignal | undefined): Promise<Worktree> {
    const worktrees = this.services.worktrees()
    if (!worktrees) throw new FanoutError('NOT_SUPPORTED', 'the app makes no worktrees; load @offshoot/worktree, or spawn without one')
    try {
      return await worktrees.create({ ...asked, repo: parent.cwd }, { signal })
    } catch (error) {
      if (!(error instanceof WorktreeError)) throw error
      throw new FanoutError(error.code === 'VALIDATION' ? 'VALIDATION' : 'NOT_SUPPORTED', error.message, { cause: error })
    }
  }

  /** @throws {FanoutError} `NOT_SUPPORTED` for one that is not there, or not the owner's. */
  private need(id: string, owner: Agent | undefined): Child {
    const child = this.pending.get(id) ?? this.collected.get(id)
    if (child && (!owner || child.owner === owner)) return child
    throw new FanoutError('NOT_SUPPORTED', `there is no child "${id}" to collect${owner ? listed(this.idsOf(owner)) : ''}`)
  }
}

/** Whether a child's task settles in time. */
async function settles(tasks: TaskCore | undefined, { task }: Child, signal: AbortSignal | undefined, timeoutMs: number | undefined): Promise<boolean> {
  if (task.outcome) return true
  if (!tasks?.get(task.id)) return true
  await tasks.wait(task.id, { timeoutMs, signal })
  return task.outcome !== undefined
}

function listed(ids: readonly string[]): string {
  return ids.length === 0 ? ' (you have none)' : ` (yours: ${ids.slice(0, 20).join(', ')}${ids.length > 20 ? ', …' : ''})`
}
