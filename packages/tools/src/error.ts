export type ToolErrorCode = 'DUPLICATE_TOOL' | 'INVALID_TOOL' | 'EMPTY_FILTER' | 'SPILL_CLOSED' | 'SPILL_FULL'

/** A refusal by `ctx.tools`. Programs switch on `code`; `message` is for people. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly code: ToolErrorCode

  constructor(code: ToolErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
