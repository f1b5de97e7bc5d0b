import type { Context } from 'cordis'
import type { AppProblem } from './error.ts'
import type { LogSink } from './log.ts'

/** A running app. */
export interface App {
  /** The root context: every service of the app can be read from it. */
  readonly ctx: Context
  /** The absolute path of the config file. */
  readonly file: string
  /**
   * End the app: agents finish first (`ctx.agents.drain()`, where there is one), then the entries go, last of the file
   * first, each after the one below it is gone. Never rejects: what goes wrong is in the log. Idempotent.
   */
  dispose(): Promise<void>
}

export interface LoadOptions {
  /**
   * Where a package is looked for after the folder of the config file: file URLs (as `import.meta.url`), or paths of
   * files or folders.
   */
  readonly resolveFrom?: readonly string[]
  /** Export conditions beside `node` and `import`. */
  readonly conditions?: readonly string[]
  /** How long the app may take to settle, in milliseconds. Default 60 000; `Infinity` is no limit. */
  readonly timeoutMs?: number
  /** Takes each problem that is found once the app runs. Without it they go to `log`. */
  readonly onProblem?: (problem: AppProblem) => void
  /** Takes the app's log. Without it, warnings and errors go to stderr. */
  readonly log?: LogSink
}
