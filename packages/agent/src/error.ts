export type AgentErrorCode = 'AGENT_BUSY' | 'AGENT_DISPOSED' | 'INVALID_AGENT'

/** A refusal by an agent or by `ctx.agents`. Programs switch on `code`; `message` is for people. */
export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly code: AgentErrorCode

  constructor(code: AgentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
