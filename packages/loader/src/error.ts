/** Something that is wrong with an app, and where to look for it. */
export interface AppProblem {
  /**
   * `file:line:col` of the config entry, or of the offending node; the file alone where there is no such place.
   * The file is shown relative to the working directory when it lies inside.
   */
  readonly where: string
  /** One line: which entry, what is wrong, and what would work. */
  readonly message: string
  /** What was thrown, where something was; its stack is for the author of the plugin. */
  readonly error?: unknown
}

/**
 * `UNREADABLE`: there is no such file, or it cannot be read. `INVALID`: the problems say what is wrong.
 * `CLOSED`: the app ends, and takes no new config. `NOT_RESTORED`: a reload was taken back, and not all that it had
 * disposed runs again; the problems name it.
 */
export type AppErrorCode = 'UNREADABLE' | 'INVALID' | 'CLOSED' | 'NOT_RESTORED'

/**
 * A config that was not taken over; the message is one line a problem. Of an app that did not load nothing is left
 * running, and one that did not reload is what it was, but for `NOT_RESTORED`.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: AppErrorCode
  readonly problems: readonly AppProblem[]

  constructor(code: AppErrorCode, problems: readonly AppProblem[], options?: ErrorOptions) {
    super(problems.map(formatProblem).join('\n'), options)
    this.code = code
    this.problems = problems
  }
}

/** The line that shows a problem to a person. */
export function formatProblem(problem: AppProblem): string {
  return `${problem.where}: ${problem.message}`
}
