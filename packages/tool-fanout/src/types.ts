import type { StopReason } from '@offshoot/agent'
import type { WorktreeChanges } from '@offshoot/worktree'

/** What is asked of a child. */
export interface FanoutSpec {
  /** All that it is told. */
  readonly task: string
  /** A few words for people. Default: none. */
  readonly name?: string
  /** The tools that it may use. Empty, or none: all. */
  readonly toolScope?: readonly string[]
  /** A checkout of its own: where, and on which new branch. Default: none, it works where its parent does. */
  readonly worktree?: { readonly path?: string, readonly branch?: string }
  /** Recorded in the spawn log. Default: the parent's session. */
  readonly sessionId?: string
}

/** How a child ended. */
export interface FanoutResult {
  readonly subagentId: string
  /** Its final text; of one that did not complete, why. */
  readonly summary: string
  readonly exitOk: boolean
  readonly stopReason: StopReason
  /** Where it worked, if that was a worktree; it is there unless it was removed. */
  readonly worktreePath?: string
  readonly worktreeBranch?: string
  /** What it changed there. */
  readonly changes?: WorktreeChanges
  /** Whether the worktree was removed, because nothing was in it. */
  readonly worktreeReleased?: boolean
}

/** One spawn, as the log keeps it. */
export interface SpawnEntry {
  readonly subagentId: string
  readonly name: string
  readonly parentSession: string
  readonly worktreePath?: string
  /** Milliseconds since the epoch. */
  readonly at: number
}
