export interface Writer {
  write(text: string): unknown
}

/** What a command reads and writes: the process, or a test's stand-in for it. */
export interface Io {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean, unref?(): unknown }
  readonly stdout: Writer
  /** On a terminal it is a stream, as Node's is. */
  readonly stderr: Writer & {
    readonly isTTY?: boolean
    readonly columns?: number
    readonly rows?: number
    on?(event: 'resize', listener: () => void): unknown
    off?(event: 'resize', listener: () => void): unknown
  }
  on(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP', listener: () => void): unknown
  off(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP', listener: () => void): unknown
  /** Ends at once, whatever still runs. */
  exit(code: number): void
}

/** Exit codes, as `--help` states them. */
export const exit = { completed: 0, notCompleted: 1, badUsage: 2, hungUp: 129, interrupted: 130, terminated: 143 } as const

/** A command that cannot be carried out as it was given. `message` may have several lines. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
