export type ScriptErrorCode = 'INVALID_CONFIG' | 'INVALID_SCRIPT' | 'NO_REPLY'

/** A script that cannot be followed, or that has no reply to a request. Programs switch on `code`; `message` is for people. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError'
  readonly code: ScriptErrorCode

  constructor(code: ScriptErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
