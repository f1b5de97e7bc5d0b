/**
 * `VALIDATION`: the request is not one. `NOT_SUPPORTED`: it asks for what is not there, as a child, a worktree or a filter. `INTERNAL`: the cap is reached, or
 * a child is lost.
 */
export type FanoutErrorCode = 'VALIDATION' | 'NOT_SUPPORTED' | 'INTERNAL'

/** A refusal by `ctx.fanout`. Nothing was made. */
export class FanoutError extends Error {
  override readonly name = 'FanoutError'
  readonly code: FanoutErrorCode

  constructor(code: FanoutErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
