import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline'
import type { Io, Writer } from './io.ts'

const usualPrompt = '> '

export interface TerminalListeners {
  readonly line: (line: string) => void
  /** Once: nothing more will come. */
  readonly end: () => void
  /** Ctrl-C, where it arrives as a key. */
  readonly interrupt: () => void
}

/** Lines in, words out: a terminal, where what is written stands above the line that is being typed, or pipes. */
export class Terminal {
  readonly stdout: Writer
  readonly stderr: Writer
  /** A person types the lines, and sees a prompt. */
  readonly isInteractive: boolean
  private readonly io: Io
  private lines: Interface | undefined
  /** The prompt is shown: everything written goes above it. */
  private prompting = false
  private prompt = usualPrompt

  constructor(io: Io) {
    this.io = io
    this.isInteractive = io.stdin.isTTY === true && io.stderr.isTTY === true
    this.stdout = { write: text => { this.write(io.stdout, text) } }
    this.stderr = { write: text => { this.write(io.stderr, text) } }
  }

  /** Begin to read. */
  open({ line, end, interrupt }: TerminalListeners): void {
    const { io: { stdin, stderr }, isInteractive } = this
    const lines = createInterface({
      input: stdin, crlfDelay: Infinity, terminal: isInteractive,
      ...(isInteractive ? { output: stderr as NodeJS.WritableStream, prompt: this.prompt } : {}),
    })
    this.lines = lines
    lines.on('line', text => {
      // Readline hands on the rest of what it has read, closed or not.
      if (this.lines !== lines) return
      line(text)
      if (this.prompting) lines.prompt()
    })
    lines.on('SIGINT', interrupt)
    // Where standard input cannot be read (any more), no line will come.
    lines.on('error', (error: Error) => {
      this.stderr.write(`offshoot: standard input: ${error.message}\n`)
      lines.close()
    })
    lines.once('close', () => {
      this.close()
      end()
    })
    if (!isInteractive) return
    this.prompting = true
    lines.prompt()
  }

  /** Ask with `prompt` instead of the usual one, until the returned function is called. What is being typed stays. */
  ask(prompt: string): () => void {
    this.setPrompt(prompt)
    return () => { if (this.prompt === prompt) this.setPrompt(usualPrompt) }
  }

  /** Read no more. Idempotent. */
  close(): void {
    if (this.prompting) this.erasePrompt()
    this.prompting = false
    this.lines?.close()
    this.lines = undefined
    // A pipe that stays open is no reason to stay.
    this.io.stdin.unref?.()
  }

  private setPrompt(prompt: string): void {
    this.prompt = prompt
    if (!this.prompting) return
    this.erasePrompt()
    this.lines?.setPrompt(prompt)
    this.lines?.prompt(true)
  }

  private write(to: Writer, text: string): void {
    if (this.prompting) this.erasePrompt()
    to.write(text)
    if (this.prompting) this.lines?.prompt(true)
  }

  private erasePrompt(): void {
    const out = this.io.stderr as NodeJS.WritableStream
    // Readline redraws from the row where it believes its line to begin; that row is the one left here.
    const lines = this.lines as Interface & { prevRows?: number }
    moveCursor(out, 0, -lines.getCursorPos().rows)
    cursorTo(out, 0)
    clearScreenDown(out)
    lines.prevRows = 0
  }
}
