export type TaskErrorCode = 'UNKNOWN_TASK' | 'OWNER_LIMIT' | 'INVALID_TASK'

/** A refusal by `ctx.tasks`. Programs switch on `code`; `message` is for people and for models. */
export class TaskError extends Error {
  override readonly name = 'TaskError'
  readonly code: TaskErrorCode

  constructor(code: TaskErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
