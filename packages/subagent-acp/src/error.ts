/** Where a child is in its life; diagnoses name it. */
export type AcpPhase = 'spawn' | 'initialize' | 'authenticate' | 'session/new' | 'mode' | 'options' | 'prompt' | 'cancel'

export type AcpErrorCode =
  /** The config, or a request, asks for what no agent, or not this one, can do. */
  | 'UNSUPPORTED'
  /** The program could not be started. */
  | 'NOT_STARTED'
  /** A phase took longer than it may. */
  | 'TIMEOUT'
  /** The agent ended, or closed its output. */
  | 'CLOSED'
  /** The agent answered with an error. */
  | 'REFUSED'
  /** The agent wants a login first. */
  | 'AUTH_REQUIRED'
  /** The agent's answer cannot be used. */
  | 'PROTOCOL'
  /** The start was cancelled. */
  | 'CANCELLED'

/** Why an agent could not be started, or did not go on. Programs switch on `code`; `message` is for people. */
export class AcpError extends Error {
  override readonly name = 'AcpError'
  readonly code: AcpErrorCode
  readonly phase: AcpPhase

  constructor(code: AcpErrorCode, phase: AcpPhase, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.phase = phase
  }
}
