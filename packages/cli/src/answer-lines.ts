import { createInterface, type Interface } from 'node:readline'
import type { Io } from './io.ts'
import type { LiveScreen } from './live-screen.ts'

/** Lines that a person types while somebody asks, at a terminal that otherwise only shows what happens. */
export class AnswerLines {
  private readonly io: Io
  private readonly screen: LiveScreen | undefined
  private readonly line: (line: string) => void
  private readonly end: () => void
  private lines: Interface | undefined

  constructor(io: Io, screen: LiveScreen | undefined, line: (line: string) => void, end: () => void) {
    this.io = io
    this.screen = screen
    this.line = line
    this.end = end
  }

  /** Whether there is a person to ask: who sees the question, and can type. */
  static canAsk({ stdin, stderr }: Io): boolean {
    return stdin.isTTY === true && stderr.isTTY === true
  }

  /** Ask with `prompt`, and hand on lines, until the returned function is called. What is shown meanwhile stands still. */
  listen(prompt: string): () => void {
    const resume = this.screen?.pause()
    // The terminal itself shows what is typed, and sends Ctrl-C as the signal that it is.
    const lines = createInterface({ input: this.io.stdin, terminal: false })
    this.lines = lines
    lines.on('line', text => { if (this.lines === lines) this.line(text) })
    lines.on('error', () => { this.stop(lines) })
    // Ctrl-D, or a terminal that is gone: nobody answers any more.
    lines.on('close', () => { if (this.lines === lines) this.end() })
    this.io.stderr.write(prompt)
    return () => {
      this.stop(lines)
      resume?.()
    }
  }

  private stop(lines: Interface): void {
    if (this.lines === lines) this.lines = undefined
    lines.close()
    this.io.stdin.unref?.()
  }
}
