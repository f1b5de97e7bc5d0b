import xterm from '@xterm/headless'
import { EventEmitter } from 'node:events'

const { setTimeout: realTimeout } = globalThis

/** A terminal, as a stream that is written to, and what stands on it. */
export class Screen extends EventEmitter {
  readonly isTTY = true
  /** Each text that was written, in order. */
  readonly writes: string[] = []
  private readonly terminal: xterm.Terminal
  private taken = 0

  constructor(columns: number, rows: number) {
    super()
    this.terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 1000, convertEol: true, allowProposedApi: true })
  }

  get columns(): number {
    return this.terminal.cols
  }

  get rows(): number {
    return this.terminal.rows
  }

  write(text: string): void {
    this.writes.push(text)
  }

  /** Once all that was written has arrived, as a person drags the window. */
  async resize(columns: number, rows: number = this.rows): Promise<void> {
    await this.arrived()
    this.terminal.resize(columns, rows)
    this.emit('resize')
  }

  /** What stands there, with what was scrolled away: a wrapped line is as many as it has rows. */
  async lines(): Promise<string[]> {
    await this.arrived()
    const buffer = this.terminal.buffer.active
    const lines = Array.from({ length: buffer.length }, (_, i) => buffer.getLine(i)!.translateToString(true))
    return lines.slice(0, lines.findLastIndex(line => line !== '') + 1)
  }

  private arrived(): Promise<void> {
    const { setTimeout: current } = globalThis
    // The terminal takes what is written with a timer of its own, which must run where a test's stand still.
    globalThis.setTimeout = realTimeout
    const arrived = new Promise<void>(resolve => { this.terminal.write(this.writes.slice(this.taken).join(''), resolve) })
    globalThis.setTimeout = current
    this.taken = this.writes.length
    return arrived
  }
}
