import { exit, type Io } from './io.ts'

/** What Ctrl-C and a termination request do: the first ends the work in order, the second ends the process at once. */
export class Interrupts {
  /** Set once an interruption came. */
  exitCode: number | undefined
  private readonly io: Io
  private readonly controller = new AbortController()

  constructor(io: Io) {
    this.io = io
    io.on('SIGINT', this.onInterrupt)
    io.on('SIGTERM', this.onTerminate)
  }

  /** Aborts at the first interruption. */
  get signal(): AbortSignal {
    return this.controller.signal
  }

  close(): void {
    this.io.off('SIGINT', this.onInterrupt)
    this.io.off('SIGTERM', this.onTerminate)
  }

  private readonly onInterrupt = (): void => { this.interrupt(exit.interrupted, 'interrupted') }
  private readonly onTerminate = (): void => { this.interrupt(exit.terminated, 'terminated') }

  private interrupt(code: number, word: string): void {
    if (this.exitCode !== undefined) {
      this.io.exit(code)
      return
    }
    this.exitCode = code
    this.io.stderr.write(`offshoot: ${word}, ending what runs (again: at once)\n`)
    this.controller.abort(new Error(word))
  }
}
