export type ShellErrorCode = 'NO_AGENT' | 'NO_SHELL' | 'NO_WORKING_DIRECTORY' | 'NOT_STARTED' | 'CANCELLED'

/** A refusal by the shell tool, or a command that was cancelled. Programs switch on `code`; `message` is for people. */
export class ShellError extends Error {
  override readonly name = 'ShellError'
  readonly code: ShellErrorCode

  constructor(code: ShellErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
