import type { LanguageModelV3FunctionTool } from '@ai-sdk/provider'
import type { ContentBlock } from '@offshoot/session'
import type { Static, TObject } from './bundled/typebox.ts'

/** What a running call knows of its surroundings. `@offshoot/agent` adds `agent`, by declaration merging. */
export interface ToolExec {
  readonly callId: string
  /** Aborts when the turn does. Absent where nothing can abort the call. */
  readonly signal?: AbortSignal
  /** Show people how far the call is; the model never sees it. */
  progress?(update: string): void
}

export type ToolOutput = string | readonly ContentBlock[]

/** How calls of one step may run: `exclusive` ones alone, neighbouring `parallel` ones at once. */
export type ToolConcurrency = 'exclusive' | 'parallel'

/** The most that a call can do to the world. */
export type ToolEffect = 'read' | 'write' | 'execute'

export interface ToolDefinition<S extends TObject = TObject> {
  /** `^[a-zA-Z0-9_-]{1,64}$`, what model endpoints accept. */
  readonly name: string
  readonly description: string
  readonly parameters: S
  /** Default `exclusive`. */
  readonly concurrency?: ToolConcurrency
  readonly effect?: ToolEffect
  /** How much of a result the model reads, in bytes of text; the rest goes into a spill. Default: the app's `maxOutputBytes`. */
  readonly maxOutputBytes?: number | undefined
  /** Runs with arguments that fit `parameters`. What it throws becomes an error result. */
  execute(args: Static<S>, exec: ToolExec): ToolOutput | Promise<ToolOutput>
}

/** A definition made ready: its schema compiled, its request form built once. */
export interface Tool {
  readonly name: string
  readonly concurrency: ToolConcurrency
  readonly effect?: ToolEffect
  /** Absent: the app's. */
  readonly maxOutputBytes?: number
  /** What a model request carries. Frozen and shared by every request. */
  readonly spec: LanguageModelV3FunctionTool
  /** The sentence that says what does not fit, or `undefined`. */
  check(args: unknown): string | undefined
  execute(args: unknown, exec: ToolExec): ToolOutput | Promise<ToolOutput>
}

/**
 * Judges a call whose arguments fit, before it runs: with nothing it may, with a text it may not, and that is why. The call waits for
 * an answer that takes time.
 */
export type ToolGate = (tool: Tool, args: Record<string, unknown>, exec: ToolExec) => string | undefined | Promise<string | undefined>

export interface ToolResult {
  readonly content: readonly ContentBlock[]
  readonly isError: boolean
}

/**
 * Which global tools an agent sees, by exact name: those in `allow`, less those in `deny`.
 * `allow: []` hides all. It is about visibility, and not a security boundary.
 */
export interface ToolFilter {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}
