import type { ContentBlock, Session, Usage } from '@offshoot/session'
import type { Tool, ToolFilter, ToolResult } from '@offshoot/tools'
import type { Agent } from './agent.ts'
import type { Lineage } from './lineage.ts'

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
  /** The same calls with the same results, over and over. */
  'loop': true
  /** A deadline passed. */
  'timeout': true
  /** The tree of agents has used the tokens it was given. */
  'budget': true
  /** The account behind the model has nothing left: waiting does not help. */
  'quota': true
  /** The conversation no longer fits the model's context window. */
  'context-overflow': true
  /** The model ended without a call of its answer tool that fits, also after it was told. */
  'invalid-output': true
}

export type StopReason = keyof StopReasons

/** The arguments of an answer tool's call: a JSON object, deeply frozen. */
export type StructuredAnswer = Readonly<Record<string, unknown>>

/** How a turn ended. What it produced before a failure is kept, and is no answer. */
export interface TurnResult {
  readonly stopReason: StopReason
  /** The last text the model wrote in this turn: the answer when `completed`, else partial or empty. */
  readonly output: readonly ContentBlock[]
  /** What its answer tool was called with; there exactly when an agent that has one `completed`. Its JSON is the output then. */
  readonly structured?: StructuredAnswer
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
  /** Makes a call of this tool its answer, instead of text. It is the agent's own, which no filter touches. */
  readonly answer?: AnswerTool | undefined
  /** Model requests a turn may make. */
  readonly maxSteps?: number | undefined
  /** Per request. */
  readonly maxOutputTokens?: number | undefined
  /** Where a root stands that is itself somebody's child; default: what the process was started with. A child has its parent's. */
  readonly lineage?: Lineage | undefined
  /** It goes when the parent goes, and is one level deeper. */
  readonly parent?: Agent | undefined
  /** What people and scripted models call it; default `main`. */
  readonly label?: string | undefined
}

/**
 * A tool whose call is the agent's answer: its arguments, when they fit. The calls beside it in that step run too; then the
 * turn ends.
 */
export interface AnswerTool extends Tool {
  /** Where arguments that do not fit go wrong, in one line for people, without a word of the model's. */
  whereWrong(args: StructuredAnswer): string
}

/** What a turn waits for: the model's next word, its tools, a slot to work in, the end of a rate limit, or a person's approval. */
export type TurnWait = 'model' | 'tools' | 'slot' | 'rate-limit' | 'approval'

/** A turn under way. */
export interface TurnProgress {
  /** Entries in the log when it began: the turns before this one. */
  readonly logLength: number
  /** Number of its latest model request. */
  readonly step: number
  /** The latest tool that is still running. */
  readonly tool?: string
  readonly waitsFor: TurnWait
  /** When the model was last heard, or asked, in milliseconds since the epoch. Says nothing unless the turn waits for the model. */
  readonly heardAt: number
  /** Whether the model has said anything since it was last asked. */
  readonly hasAnswered: boolean
  readonly usage: Usage
}

/** Why a turn is to end early. */
export interface TurnCut {
  readonly stopReason: StopReason
  /** In one line, for people. */
  readonly diagnostic: string
}

/**
 * What lets an agent work, where not all may at once. It is taken before each step and each tool call, and given back while
 * the agent waits for its own children alone.
 */
export interface AgentSlot {
  /** Get it; `undefined` where it is held already. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<void> | undefined
  giveBack(): void
  /** Why the agent may not make another request, if it may not. */
  refusal(): TurnCut | undefined
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
  /** A rate limit holds the request until then at the earliest, in milliseconds since the epoch. Sent again where that moves. */
  | { readonly type: 'rate-limit', readonly retryAt: number }
  | { readonly type: 'text-delta', readonly text: string }
  | { readonly type: 'reasoning-delta', readonly text: string }
  | { readonly type: 'tool-start', readonly callId: string, readonly name: string, readonly args: Record<string, unknown> | undefined }
  | { readonly type: 'tool-progress', readonly callId: string, readonly name: string, readonly update: string }
  | { readonly type: 'tool-end', readonly callId: string, readonly name: string, readonly result: ToolResult }
  | { readonly type: 'turn-end', readonly result: TurnResult }

export type AgentListener = (event: AgentEvent) => void
