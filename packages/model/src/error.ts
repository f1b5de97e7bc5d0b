export type ModelErrorCode = 'UNKNOWN_MODEL' | 'DUPLICATE_MODEL' | 'NO_DEFAULT_MODEL' | 'INVALID_MODEL' | 'RATE_LIMITED'

/** A refusal by `ctx.models`, or a request that was given up for a rate limit. Programs switch on `code`; `message` is for people. */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly code: ModelErrorCode

  constructor(code: ModelErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
