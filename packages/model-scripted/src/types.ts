import type { LanguageModelV3Prompt } from '@ai-sdk/provider'

/** What a script is asked. */
export interface ScriptRequest {
  /** The agent's label: the `description` of a delegation, `main` for the agent of a surface. Empty where no agent asks. */
  readonly label: string
  /** Number of this request in the agent's turn, from 1. 0 where no agent asks. */
  readonly step: number
  /** Text of the last message; of tool results, one a line. */
  readonly last: string
  /** Text of each tool result of the last tool message, in the order of the calls. */
  readonly results: readonly string[]
  readonly prompt: LanguageModelV3Prompt
  /** Names of the tools that the request offers. */
  readonly tools: readonly string[]
}

/** What a script answers: at least one of `reply`, `reasoning`, `calls`, `finish`, or else `fail` alone. */
export interface ScriptReply {
  readonly reply?: string
  readonly reasoning?: string
  readonly calls?: readonly { readonly tool: string, readonly args?: Readonly<Record<string, unknown>> }[]
  /** Wait this long before answering, or failing. */
  readonly delayMs?: number
  /** Fail like an endpoint: with `status` as one that answers so, without as one that cannot be reached. */
  readonly fail?: ScriptFailure
  /** Default `tool-calls` where there are calls, else `stop`. */
  readonly finish?: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'
}

export interface ScriptFailure {
  readonly message: string
  readonly status?: number
  /** The endpoint's own word for it, such as `insufficient_quota`. */
  readonly code?: string
  /** How long a rate limit lasts, as the endpoint says. */
  readonly retryAfterMs?: number
}

/** Answers each request. What it throws fails the request. */
export type Script = (request: ScriptRequest) => ScriptReply | Promise<ScriptReply>

/** A reply, and the requests that it fits. In `reply` and `args`, `{{last}}` and `{{match.1}}` stand for what was said. */
export interface ScriptRule extends ScriptReply {
  readonly when?: {
    /** The agent's label, or a `/pattern/`. */
    readonly label?: string
    readonly step?: number
    /** Part of the last message, or a `/pattern/`. */
    readonly last?: string
  }
}
