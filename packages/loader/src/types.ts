import type { Context } from 'cordis'
import type { AppProblem } from './error.ts'
import type { LogSink } from './log.ts'

/** A running app. */
export interface App {
  /** The root context: every service of the app can be read from it. */
  readonly ctx: Context
  /** The absolute path of the config file. */
  readonly file: string
  /** The ids of the entries that are mounted, those of groups included, in the order of the file. */
  readonly entries: readonly string[]
  /**
   * Take over what the config file says now. Entries that say what they said go on untouched; the others are disposed,
   * last first, and then those that are new or changed are mounted. Resolves once the app has settled. Reloads run one
   * after the other.
   *
   * @throws {AppError} with everything that is wrong. The app is then what it was: a file that can be seen to be wrong
   * touches nothing, and where something fails as it starts, what had been disposed is mounted again as before.
   */
  reload(): Promise<ReloadResult>
  /**
   * End the app: agents finish first (`ctx.agents.drain()`, where there is one), then the entries go, last of the file
   * first, each after the one below it is gone. Never rejects: what goes wrong is in the log. Idempotent.
   */
  dispose(): Promise<void>
}

/**
 * The ids of the entries that differ, in the order of the file. Of a group that was mounted, disposed or itself
 * changed, the id stands for what it contains.
 */
export interface ReloadResult {
  readonly added: readonly string[]
  readonly restarted: readonly string[]
  readonly removed: readonly string[]
}

export interface LoadOptions {
  /**
   * Where a package is looked for after the folder of the config file: file URLs (as `import.meta.url`), or paths of
   * files or folders.
   */
  readonly resolveFrom?: readonly string[]
  /** Export conditions beside `node` and `import`. */
  readonly conditions?: readonly string[]
  /**
   * Modules that a program carries within itself, by the name of their package: taken where that name leads to what `resolveFrom` has,
   * and the app has no other one of its own.
   */
  readonly modules?: ReadonlyMap<string, () => Promise<unknown>>
  /** How long the app may take to settle, in milliseconds. Default 60 000; `Infinity` is no limit. */
  readonly timeoutMs?: number
  /** Takes each problem that is found once the app runs. Without it they go to `log`. */
  readonly onProblem?: (problem: AppProblem) => void
  /** Takes the app's log. Without it, warnings and errors go to stderr. */
  readonly log?: LogSink
}
