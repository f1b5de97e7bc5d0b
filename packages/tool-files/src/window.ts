import type { FileHandle } from 'node:fs/promises'
import { FileError } from './error.ts'
import { binary, chunksOf, looksBinary } from './text.ts'

/** The longest line that says how to read on. */
export const hintBytes = 128

const newline = 0x0a
const bom = Buffer.from('\uFEFF')

/** Which part of a file to read. Lines and bytes of a line count from 1. */
export interface Window {
  readonly offset: number
  /** Byte of the first line to begin at. */
  readonly column: number
  readonly maxLines: number
  readonly maxBytes: number
  /** What is not text is shown too; a byte order mark and line endings stay. */
  readonly asIs: boolean
}

/**
 * The text of a part of `file`, with `\n` between lines unless it is `asIs`; where more follows, a last line says how to read on.
 * However long the file and its lines are, no more than the part is kept.
 */
export async function readWindow(file: FileHandle, shown: string, window: Window, signal?: AbortSignal): Promise<string> {
  const { size } = await file.stat()
  if (size === 0) return '[the file is empty]'
  const start = new Start(window)
  const kept: Buffer[] = []
  let length = 0
  let lines = 0
  let first = true
  for await (const chunk of chunksOf(file, signal)) {
    if (first && !window.asIs && looksBinary(chunk)) throw binary(shown, size)
    first = false
    const part = start.skip(chunk)
    if (part.length === 0) continue
    kept.push(Buffer.from(part))
    length += part.length
    lines += countLines(part)
    if (length > window.maxBytes || lines > window.maxLines) break
  }
  if (length === 0) throw start.missed(shown)
  return render(Buffer.concat(kept), window, size)
}

/** Finds where the window begins. */
class Start {
  private line = 1
  private columns: number
  private ended = true
  private readonly window: Window

  constructor(window: Window) {
    this.window = window
    this.columns = window.column - 1
  }

  /** What of `chunk` is in the window. */
  skip(chunk: Buffer): Buffer {
    let rest = chunk
    while (this.line < this.window.offset && rest.length > 0) {
      const end = rest.indexOf(newline)
      if (end >= 0) this.line++
      rest = end < 0 ? rest.subarray(rest.length) : rest.subarray(end + 1)
      this.ended = end >= 0
    }
    if (this.columns === 0 || rest.length === 0) return rest
    const skipped = rest.subarray(0, this.columns)
    if (skipped.includes(newline)) throw this.missedColumn()
    this.columns -= skipped.length
    this.ended = false
    return rest.subarray(skipped.length)
  }

  /** The error for a window that begins after the end of the file. */
  missed(shown: string): FileError {
    const { line, ended, window } = this
    if (line === window.offset && !ended) return this.missedColumn()
    const lines = ended ? line - 1 : line
    return new FileError('INVALID_ARGUMENT', `offset ${window.offset} is after the end of "${shown}", which has ${lines} ${lines === 1 ? 'line' : 'lines'}`)
  }

  private missedColumn(): FileError {
    const { offset, column } = this.window
    return new FileError('INVALID_ARGUMENT', `column ${column} is after the end of line ${offset}`)
  }
}

function render(bytes: Buffer, window: Window, size: number): string {
  const { offset, column, maxBytes, maxLines, asIs } = window
  const end = endOf(bytes, maxBytes, maxLines)
  const start = !asIs && offset === 1 && column === 1 && bytes.subarray(0, bom.length).equals(bom) ? bom.length : 0
  const shown = bytes.toString('utf8', start, end)
  const text = asIs ? shown : shown.replaceAll('\r\n', '\n')
  if (end === bytes.length) return text
  const whole = bytes[end - 1] === newline
  const next = whole ? { offset: offset + countLines(bytes.subarray(0, end)) } : { offset, column: column + end }
  return `${text}${whole ? '' : '\n'}[cut here; the file has ${size} bytes; read on with ${JSON.stringify(next)}]`
}

/** Where to end: after as many whole lines as fit, or inside of one that does not. */
function endOf(bytes: Buffer, maxBytes: number, maxLines: number): number {
  let end = 0
  for (let line = 0; line < maxLines; line++) {
    const next = bytes.indexOf(newline, end) + 1 || bytes.length
    if (next > maxBytes) break
    end = next
    if (end === bytes.length) break
  }
  return end || characterEnd(bytes, Math.min(maxBytes, bytes.length))
}

/** The last position up to `end` that is not inside of a character. */
function characterEnd(bytes: Buffer, end: number): number {
  for (let at = end; at > Math.max(0, end - 4); at--) {
    if (at === bytes.length || (bytes[at]! & 0xc0) !== 0x80) return at
  }
  return end
}

function countLines(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines++
  return lines
}
