import { exit, type Io, type Writer } from './io.ts'

const kinds = {
  SIGINT: { code: exit.interrupted, word: 'interrupted' },
  SIGTERM: { code: exit.terminated, word: 'terminated' },
  SIGHUP: { code: exit.hungUp, word: 'hung up' },
} as const

/** How long work may take to end before the process ends without it. */
const endLimitMs = 20_000

/**
 * What Ctrl-C and a termination request do: the first ends the work in order, the next ends the process at once.
 * `soften` is offered each Ctrl-C before that, and answers whether it took care of it.
 */
export class Interrupts {
  /** Set once the work is to end. */
  exitCode: number | undefined
  /** Absent: every Ctrl-C ends the work. */
  soften: (() => boolean) | undefined
  private readonly io: Io
  private readonly out: Writer
  private readonly controller = new AbortController()
  private timer: NodeJS.Timeout | undefined

  constructor(io: Io, out: Writer = io.stderr) {
    this.io = io
    this.out = out
    io.on('SIGINT', this.interrupt)
    io.on('SIGTERM', this.onTerminate)
    io.on('SIGHUP', this.onHangup)
  }

  /** Aborts when the work is to end. */
  get signal(): AbortSignal {
    return this.controller.signal
  }

  close(): void {
    clearTimeout(this.timer)
    this.io.off('SIGINT', this.interrupt)
    this.io.off('SIGTERM', this.onTerminate)
    this.io.off('SIGHUP', this.onHangup)
  }

  /** A Ctrl-C: as a signal, or read as a key. */
  readonly interrupt = (): void => {
    if (this.exitCode === undefined && this.soften?.()) return
    this.end('SIGINT')
  }

  private readonly onTerminate = (): void => { this.end('SIGTERM') }
  private readonly onHangup = (): void => { this.end('SIGHUP') }

  private end(signal: keyof typeof kinds): void {
    const { code, word } = kinds[signal]
    if (this.exitCode !== undefined) {
      this.io.exit(code)
      return
    }
    this.exitCode = code
    this.out.write(`offshoot: ${word}, ending what runs (again: at once)\n`)
    // A tool may ignore its signal for ever.
    this.timer = setTimeout(() => {
      this.out.write(`offshoot: something did not end within ${endLimitMs / 1000} s; ending without it\n`)
      this.io.exit(code)
    }, endLimitMs)
    this.controller.abort(new Error(word))
  }
}
