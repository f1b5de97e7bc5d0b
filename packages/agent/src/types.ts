import type { ContentBlock, Message, Session, Usage } from '@offshoot/session'
import type { Tool, ToolFilter, ToolResult } from '@offshoot/tools'
import type { Agent } from './agent.ts'

/** How a turn can end. The set grows by declaration merging; treat one that you do not know as a failure. */
export interface StopReasons {
  /** The model ended by itself, with an answer. */
  'completed': true
  /** Its signal, `abort()` or `dispose()`. */
  'aborted': true
  /** The endpoint or the transport failed, or ended the reply without a reason that can be trusted. */
  'error': true
  /** The output token limit cut the reply. */
  'max-tokens': true
  /** The model, or a content filter, declined. */
  'refusal': true
  /** The agent used all its model requests and still wanted tools. */
  'max-steps': true
  /** The model ended without text, and again after it was asked for its answer. */
  'empty-output': true
}

export type StopReason = keyof StopReasons

/** How a turn ended. What it produced before a failure is kept, and is no answer. */
export interface TurnResult {
  readonly stopReason: StopReason
  /** The last text the model wrote in this turn: the answer when `completed`, else partial or empty. */
  readonly output: readonly ContentBlock[]
  readonly usage: Usage
  /** Model requests made. */
  readonly steps: number
  /** The model that ran, as the endpoint calls it. */
  readonly model: string
  /** Why a turn that is not `completed` ended, in one scrubbed line for people. Never the model's words. */
  readonly diagnostic?: string
}

export interface AgentOptions {
  /** A registered model's name; default: the parent's, else the app's. */
  readonly model?: string | undefined
  /** Default: the app's persona. */
  readonly persona?: string | undefined
  /** Absolute; default: the parent's, else the process's. */
  readonly cwd?: string | undefined
  /** Default: a new one. */
  readonly session?: Session | undefined
  /** Which global tools it sees. */
  readonly toolFilter?: ToolFilter | undefined
  /** Tools of its own, which no filter touches. */
  readonly tools?: readonly Tool[] | undefined
  /** Model requests a turn may make. */
  readonly maxSteps?: number | undefined
  /** Per request. */
  readonly maxOutputTokens?: number | undefined
  /** It goes when the parent goes, and is one level deeper. */
  readonly parent?: Agent | undefined
  /** What people and scripted models call it; default `main`. */
  readonly label?: string | undefined
}

/** A turn under way. */
export interface TurnProgress {
  /** Entries in the log when it began: the turns before this one. */
  readonly logLength: number
  /** Number of its latest model request. */
  readonly step: number
  /** The latest tool that is still running. */
  readonly tool?: string
  readonly usage: Usage
}

/** What `ctx.agents` settled when it made the agent. */
export interface AgentSetup {
  readonly id: string
  readonly label: string
  readonly parent: Agent | undefined
  readonly depth: number
  readonly cwd: string
  readonly session: Session
  readonly modelName: string
  readonly persona: string | undefined
  readonly system: Message
  readonly toolFilter: ToolFilter | undefined
  readonly ownTools: readonly Tool[] | undefined
  readonly maxSteps: number
  readonly maxOutputTokens: number | undefined
}

export interface RunOptions {
  /** Aborts the turn. */
  readonly signal?: AbortSignal | undefined
}

export interface AbortOptions {
  /** `turn`, the default: what was asked for in the foreground. `tree`: everything below the agent. */
  readonly scope?: 'turn' | 'tree'
}

/** What an agent does, as it does it: for progress displays. Listeners must be quick; what they throw is logged. */
export type AgentEvent =
  /** `notice`: begun by itself, to hear of background work. */
  | { readonly type: 'turn-start', readonly trigger: 'prompt' | 'notice' }
  | { readonly type: 'step-start', readonly step: number }
  | { readonly type: 'text-delta', readonly text: string }
  | { readonly type: 'reasoning-delta', readonly text: string }
  | { readonly type: 'tool-start', readonly callId: string, readonly name: string, readonly args: Record<string, unknown> | undefined }
  | { readonly type: 'tool-progress', readonly callId: string, readonly name: string, readonly update: string }
  | { readonly type: 'tool-end', readonly callId: string, readonly name: string, readonly result: ToolResult }
  | { readonly type: 'turn-end', readonly result: TurnResult }

export type AgentListener = (event: AgentEvent) => void
