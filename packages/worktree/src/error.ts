/**
 * `VALIDATION`: the request names a path or a branch that cannot be. `NOT_SUPPORTED`: git cannot run, the folder is in no repository, or git
 * refuses. `TIMEOUT`: git, or whoever holds the repository's lock, takes too long.
 */
export type WorktreeErrorCode = 'VALIDATION' | 'NOT_SUPPORTED' | 'TIMEOUT'

/** A refusal by `ctx.worktrees`. Nothing was made, or it is gone again. */
export class WorktreeError extends Error {
  override readonly name = 'WorktreeError'
  readonly code: WorktreeErrorCode

  constructor(code: WorktreeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
