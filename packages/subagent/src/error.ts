export type SubagentErrorCode =
  | 'NO_PROVIDER'
  | 'DUPLICATE_PROVIDER'
  | 'INVALID_PROVIDER'
  | 'INVALID_REQUEST'
  | 'UNSUPPORTED_CAPABILITY'
  | 'DEPTH_LIMIT'
  | 'START_LIMIT'
  | 'TOKEN_LIMIT'
  | 'QUEUE_TIMEOUT'
  | 'START_TIMEOUT'
  | 'ABORTED'
  | 'START_FAILED'
  | 'DISPOSE_FAILED'

/** A refusal or failure of `ctx.subagents`. Programs switch on `code`; `message` is for people and for models. */
export class SubagentError extends Error {
  override readonly name = 'SubagentError'
  readonly code: SubagentErrorCode

  constructor(code: SubagentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
