import type { Agent } from '@offshoot/agent'
import type { ToolEffect } from '@offshoot/tools'

/** What the config says of a call: it runs, it does not, or a person decides. */
export type Policy = 'allow' | 'deny' | 'ask'

/** Makes one tree stricter than the config, or asks its people less often: a mode that a person has chosen. */
export interface Adjustment {
  /** What people call it: `mode "read-only"`. A refusal names it. */
  readonly name: string
  /** What becomes of a call that the config does not deny. `effect`: what it does at most; absent where nobody knows. */
  adjust(policy: Exclude<Policy, 'deny'>, effect: ToolEffect | undefined): Policy
}

/** What somebody wants to do. */
export interface ApprovalRequest {
  /** Who wants it. For a child outside this process: the agent that delegated to it. */
  readonly agent: Agent
  /** Who that is to people where it is not the agent itself, as a child outside this process: `run-3 codex`. */
  readonly asker?: string | undefined
  /** The tool call that is to be allowed, where the agent made one. */
  readonly callId?: string | undefined
  /** The tool, or what an agent outside this process calls the kind of thing it wants to do. */
  readonly tool: string
  /** What the call does at most; absent where nobody knows. */
  readonly effect?: ToolEffect | undefined
  /** What it wants to do, in a line for people: a command, a path. */
  readonly summary: string
  /** Settles the ask as `ended` when it aborts, in the same tick. */
  readonly signal?: AbortSignal | undefined
}

/** Who, or what, decided. */
export type DecidedBy =
  /** A person, or code that attends. */
  | 'answer'
  /** An earlier answer that was for this tool altogether. */
  | 'earlier-answer'
  /** The config. */
  | 'policy'
  /** Nobody attends who could answer. */
  | 'nobody'
  /** Nobody answered in time. */
  | 'deadline'
  /** Who asked has ended, or was cancelled. */
  | 'ended'

/** The one outcome of a request. */
export type Verdict =
  | { readonly allowed: true, readonly by: DecidedBy }
  /** `reason`: a sentence that the model reads. */
  | { readonly allowed: false, readonly by: DecidedBy, readonly reason: string }

/** A request that waits for its answer. The first answer counts; later ones change nothing. */
export interface Approval {
  /** `approval-<n>`, from 1. */
  readonly id: string
  readonly request: ApprovalRequest
  /** The root of the tree that the asking agent belongs to: its attendants may answer. */
  readonly root: Agent
  /** Labels from the root to who asks: `main`, `review the diff`, … */
  readonly path: readonly string[]
  /** Milliseconds since the epoch. */
  readonly askedAt: number
  /** When it becomes a denial; absent where nothing says. */
  readonly expiresAt?: number
  /** Absent while it waits. */
  readonly verdict: Verdict | undefined
  /** `always`: also for later calls of the same tool in this tree. */
  allow(options?: { readonly always?: boolean }): void
  /** `reason` goes to the model as it is. */
  deny(reason?: string): void
}

/** Somebody who can answer. */
export interface Attendant {
  /** A request joins the queue. Each is told once; what this throws is logged. */
  asked(approval: Approval): void
  /** A request left the queue, whoever decided. */
  settled?(approval: Approval, verdict: Verdict): void
}
