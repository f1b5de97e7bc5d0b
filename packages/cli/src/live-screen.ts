import { rowsOf } from './display-width.ts'
import type { Io, Writer } from './io.ts'

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

/** A frame follows a change by this much at most, and the one before it by this much at least. */
const frameMs = 100
/** Times grow without anything else happening. */
const tickMs = 1000

/**
 * The bottom of a terminal, where lines stand that change; what is written goes above them.
 *
 * A frame that cannot be made ends the display, and nothing else. Its timers keep no process alive.
 */
export class LiveScreen implements Writer {
  private readonly out: Io['stderr']
  private render: ((size: ScreenSize) => string[]) | undefined
  private shown: readonly string[] = []
  private shownFor: ScreenSize | undefined
  private shownAt = -Infinity
  private tick: NodeJS.Timeout | undefined
  private next: NodeJS.Timeout | undefined
  private paused = false
  /** What came meanwhile. */
  private held = ''

  constructor(out: Io['stderr']) {
    this.out = out
  }

  /** Show what `render` makes, until `close()`. */
  show(render: (size: ScreenSize) => string[]): void {
    this.render = render
    this.out.on?.('resize', this.changed)
    this.tick = setInterval(this.changed, tickMs).unref()
    this.changed()
  }

  /** What is shown is no longer true. */
  readonly changed = (): void => {
    if (!this.render || this.next) return
    this.next = setTimeout(() => {
      this.next = undefined
      if (!this.paused) this.paint('')
    }, Math.max(0, this.shownAt + frameMs - performance.now())).unref()
  }

  /** Take the lines away while a person types, until the returned function is called; what is written meanwhile comes then. */
  pause(): () => void {
    this.paused = true
    this.out.write(this.erasure())
    this.shown = []
    return () => {
      this.paused = false
      const { held } = this
      this.held = ''
      if (held !== '') this.write(held)
      this.changed()
    }
  }

  /** Write whole lines. */
  write(text: string): void {
    if (this.paused) this.held += text
    else if (this.render) this.paint(text)
    else this.out.write(text)
  }

  /** Take the lines away. Idempotent. */
  close(): void {
    if (!this.render) return
    this.render = undefined
    this.out.off?.('resize', this.changed)
    clearInterval(this.tick)
    clearTimeout(this.next)
    this.out.write(this.erasure())
    this.shown = []
  }

  private paint(text: string): void {
    const lines = this.lines()
    if (!lines) this.close()
    if (text === '' && (!lines || this.stands(lines))) return
    this.out.write(`${this.erasure()}${text}${(lines ?? []).map(line => `${line}\n`).join('')}`)
    this.shown = lines ?? []
    this.shownFor = this.size()
  }

  /** The lines as they are to be now; `undefined` where they cannot be made. */
  private lines(): readonly string[] | undefined {
    const now = performance.now()
    // Words may come faster than frames.
    if (now - this.shownAt < frameMs && !this.isResized()) return this.shown
    this.shownAt = now
    try {
      return this.render?.(this.size())
    } catch {
      return undefined
    }
  }

  private stands(lines: readonly string[]): boolean {
    return !this.isResized() && lines.length === this.shown.length && lines.every((line, i) => line === this.shown[i])
  }

  private isResized(): boolean {
    const { columns, rows } = this.size()
    return columns !== this.shownFor?.columns || rows !== this.shownFor.rows
  }

  /** Up to the first line, and clear from there. A terminal that became narrower has wrapped the lines. */
  private erasure(): string {
    const { columns } = this.size()
    const rows = this.shown.reduce((sum, line) => sum + rowsOf(line, columns), 0)
    return rows === 0 ? '' : `\u001b[${rows}A\r\u001b[J`
  }

  private size(): ScreenSize {
    // A terminal may not know its size, and say 0.
    return { columns: this.out.columns || 80, rows: this.out.rows || 24 }
  }
}
