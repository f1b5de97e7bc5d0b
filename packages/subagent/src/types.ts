import type { Agent, StopReason, StructuredAnswer, TurnProgress, TurnWait } from '@offshoot/agent'
import type { ContentBlock, Prompt, Usage } from '@offshoot/session'
import type { ToolFilter } from '@offshoot/tools'
import type { JsonSchema } from './output-schema.ts'

/** What a provider enforces. A request that asks for more is refused before the provider sees it. */
export interface SubagentCapabilities {
  readonly outputSchema: boolean
  readonly depthLimit: boolean
  readonly toolFilter: boolean
  readonly persona: boolean
}

/** A way to run children. Register one with `ctx.subagents.registerProvider()`. */
export interface SubagentProvider {
  readonly name: string
  readonly capabilities: SubagentCapabilities
  /** Descriptive: whether the child sees the parent's completed turns. A tool's wording follows it. */
  readonly inheritsParentContext: boolean
  /** Wording of its own, where neither standard text is true. */
  readonly toolWording?: { readonly description: string, readonly prompt: string }
  /**
   * Make a child.
   *
   * Fulfils once the child exists; rejects after everything that was begun is undone. An abort of
   * `request.signal` before that rejects likewise. Requests have been checked: nothing in one exceeds the capabilities.
   */
  start(request: ProviderStartRequest): Promise<ProviderRun>
  /**
   * Find out whether children could run, without running one: for `offshoot doctor`. Leaves nothing behind. Answers what it found
   * in one line; rejects with what is wrong and how to mend it. Absent: there is nothing to find out beyond the config.
   */
  check?(options: { readonly signal: AbortSignal, readonly cwd: string }): Promise<string>
}

/** What a child knew of its parent's conversation when it was made. */
export interface SubagentSeed {
  /** Turns that were over. */
  readonly turns: number
  /** Completed steps of the turn that was not. */
  readonly steps: number
  /** In what its requests differ from the parent's before the child's task; empty where they begin as the parent's do. */
  readonly moved: readonly ('system' | 'tools' | 'model')[]
}

/** The same, with what it means for the bill. */
export interface SubagentSeedInfo extends SubagentSeed {
  /** Something moved, so no cache of the parent's conversation fits: the child's first request is paid in full. */
  readonly coldCache: boolean
}

/** What a provider hands over; the service adds id, provider and bounds, and gives callers a `SubagentRun`. */
export interface ProviderRun {
  /** Only when the child lives in this process. */
  readonly agent?: Agent
  /** What a child elsewhere does now, read whenever somebody looks. Absent: nobody can tell its silence from work. */
  readonly progress?: ChildProgress | undefined
  /** Deadlines of its provider; only stricter than the service's own. */
  readonly deadlines?: ChildDeadlines
  /** Only where the child inherits something of the conversation, or could have. */
  readonly seed?: SubagentSeed
  /** Settles once, however the child ends. It should not reject; a rejection counts as `error`. */
  readonly result: Promise<SubagentResult>
  /** Cancel what is left and wait until nothing of the child runs. */
  dispose(): Promise<void>
  /** Called once, right after `subagent/start` was sent: the child's first model request comes no sooner. */
  begin?(): void
}

/** What can be seen of a child outside this process. */
export interface ChildProgress extends Pick<TurnProgress, 'waitsFor' | 'heardAt' | 'hasAnswered' | 'tool' | 'usage'> {
  /** Model requests, as far as they can be told apart. */
  readonly step: number
}

export interface ChildDeadlines {
  /** How long it may be silent while it waits for nothing but its model, in milliseconds. */
  readonly idleMs?: number | undefined
  /** How long it may take in all, in milliseconds. */
  readonly timeoutMs?: number | undefined
}

export interface SubagentStartRequest {
  /** The child's task, handed on unchanged. */
  readonly prompt: Prompt
  readonly parent: Agent
  /** Covers startup and the whole run. */
  readonly signal: AbortSignal
  /** A few words for people: the tool's `description`. */
  readonly label?: string | undefined
  /** The tool call that asked, for displays. */
  readonly tool?: ToolOrigin | undefined
  readonly agentOptions?: SubagentAgentOptions | undefined
  /** Needs `capabilities.persona`. */
  readonly persona?: string | undefined
  /** Needs `capabilities.toolFilter`. */
  readonly toolFilter?: ToolFilter | undefined
  /** Absolute depth that the child may not exceed; only stricter than the service's own. Needs `capabilities.depthLimit`. */
  readonly maxDepth?: number | undefined
  /** Absolute; default: the parent's. */
  readonly cwd?: string | undefined
  /** What the child's answer has to fit: a JSON Schema of an object, without references outside itself. Needs `capabilities.outputSchema`. */
  readonly outputSchema?: JsonSchema | undefined
  /** How long the child may take, in milliseconds, from when it exists; only stricter than the service's own. */
  readonly timeoutMs?: number | undefined
}

/** Where a start came from. */
export interface ToolOrigin {
  readonly name: string
  readonly callId: string
  /** The background task that the run belongs to; absent for a call that waits. */
  readonly taskId?: string
}

export interface SubagentAgentOptions {
  readonly model?: string | undefined
  readonly maxOutputTokens?: number | undefined
  readonly maxSteps?: number | undefined
}

export interface ProviderStartRequest extends SubagentStartRequest {
  readonly runId: string
  /** The child's depth. */
  readonly depth: number
  /** The smallest limit that applies, for children that must enforce it themselves. */
  readonly maxDepth: number
  /** How long disposing the child may take before that counts as failed, in milliseconds. */
  readonly disposeGraceMs: number
  /** Aborts with the caller's signal, and when the provider is removed before the child was handed over. */
  readonly signal: AbortSignal
  /** The caller's signal itself. A provider that starts synchronously has no startup to cancel and may use it alone. */
  readonly callerSignal: AbortSignal
}

/** One child's life. Whoever started it owns it, and disposes it. */
export interface SubagentRun extends AsyncDisposable {
  /** `run-<n>`, unique in the app. */
  readonly id: string
  readonly provider: string
  /** Only when the child lives in this process. */
  readonly agent?: Agent
  /** What the child does now; absent where that cannot be seen, or nothing runs. */
  readonly progress: ChildProgress | undefined
  /** Settles once, however the child ends. Never rejects. */
  readonly result: Promise<SubagentResult>
  /**
   * Cancel what is left and wait for quiet, within `disposeGraceMs`. Idempotent.
   *
   * Rejects with `DISPOSE_FAILED` for its own failure alone; the child's outcome stays what it was.
   */
  dispose(): Promise<void>
}

/** How a child ended. */
export interface SubagentResult {
  readonly stopReason: StopReason
  /** Non-empty when `completed`; partial or empty otherwise. */
  readonly output: readonly ContentBlock[]
  /** There exactly when a child that had an `outputSchema` completed: what it handed over, frozen. Its JSON is the output then. */
  readonly structured?: StructuredAnswer
  /** For people and logs: scrubbed, at most 4 KB, never the child's words. */
  readonly diagnostic?: string
  /** What the child used itself. */
  readonly usage: Usage
  /** What it used with everything that ran below it; the service adds it. Absent in what a provider hands over. */
  readonly totalUsage?: Usage
  /** The model that really ran. */
  readonly model?: string
}

/** Who a run is: what `subagent/start` and `subagent/end` carry. */
export interface SubagentRunInfo {
  readonly runId: string
  readonly provider: string
  readonly label?: string
  readonly tool?: ToolOrigin
  readonly parentSessionId: string
  /** Absent where the child does not live in this process. */
  readonly sessionId?: string
  readonly depth: number
  /** What it inherited of the parent's conversation, however little; absent with a provider whose children inherit none. */
  readonly seed?: SubagentSeedInfo
  /** Milliseconds since the epoch. */
  readonly startedAt: number
}

/** A live run, with those it started below it. */
export interface DelegationNode extends SubagentRunInfo {
  /** `queued`: admitted, waiting for a slot, with no child yet; `settling`: being disposed. */
  readonly state: 'queued' | 'running' | 'settling'
  /** What its turn waits for; absent where it has none, or does not say. */
  readonly waitsFor?: TurnWait
  /** Its latest model request; absent where the child does not say. */
  readonly step?: number
  /** The tool it is running. */
  readonly currentTool?: string
  /** What it has used itself so far. */
  readonly usage?: Usage
  /** With everything below it. */
  readonly totalUsage?: Usage
  readonly children: readonly DelegationNode[]
}
