export type ModelErrorCode = 'UNKNOWN_MODEL' | 'DUPLICATE_MODEL' | 'NO_DEFAULT_MODEL' | 'INVALID_MODEL'

/** A refusal by `ctx.models`. Programs switch on `code`; `message` is for people. */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly code: ModelErrorCode

  constructor(code: ModelErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
