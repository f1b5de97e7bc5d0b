import type { AnyMessage } from '@agentclientprotocol/sdk/unstable'
import { jsonObjects } from './json-objects.ts'

const newline = 0x0a

/** What becomes of the lines that an agent writes to stdout. */
export interface MessageSink {
  message(message: AnyMessage): void
  /** Something that is no message. */
  noise(text: string): void
  /** A line is longer than it may be: nothing after it is read. */
  tooLong(bytes: number): void
}

/** Takes an agent's stdout apart, byte by byte, into JSON-RPC messages and noise. Linear, however a line is cut into chunks. */
export class MessageLines {
  private readonly sink: MessageSink
  private readonly maxBytes: number
  private pieces: Buffer[] = []
  private length = 0
  private isOver = false

  constructor(sink: MessageSink, maxBytes: number) {
    this.sink = sink
    this.maxBytes = maxBytes
  }

  write(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(newline); end >= 0 && !this.isOver; end = chunk.indexOf(newline, from)) {
      this.add(chunk.subarray(from, end))
      this.endLine()
      from = end + 1
    }
    this.add(chunk.subarray(from))
  }

  /** Nothing more comes: what was written last may lack its newline. */
  end(): void {
    this.endLine()
    this.isOver = true
  }

  private add(piece: Buffer): void {
    if (this.isOver || piece.length === 0) return
    this.pieces.push(piece)
    this.length += piece.length
    if (this.length <= this.maxBytes) return
    this.isOver = true
    this.pieces = []
    this.sink.tooLong(this.length)
  }

  private endLine(): void {
    if (this.isOver || this.length === 0) return
    const line = (this.pieces.length === 1 ? this.pieces[0]! : Buffer.concat(this.pieces, this.length)).toString('utf8')
    this.pieces = []
    this.length = 0
    const whole = parseMessage(line)
    if (whole) {
      this.sink.message(whole)
      return
    }
    const { objects, rest } = jsonObjects(line)
    const noise = objects.filter(object => !isMessage(object)).map(object => JSON.stringify(object))
    for (const object of objects) if (isMessage(object)) this.sink.message(object)
    const text = [rest.trim(), ...noise].filter(part => part !== '').join(' ')
    if (text !== '') this.sink.noise(text)
  }
}

function parseMessage(line: string): AnyMessage | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isMessage(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A request, a notification or a response: https://www.jsonrpc.org/specification. Batches are none that ACP knows. */
function isMessage(value: unknown): value is AnyMessage {
  if (typeof value !== 'object' || value === null || !('jsonrpc' in value) || value.jsonrpc !== '2.0') return false
  const hasId = 'id' in value && (typeof value.id === 'string' || typeof value.id === 'number')
  if ('method' in value) return typeof value.method === 'string' && (hasId || !('id' in value))
  return hasId && ('result' in value || 'error' in value)
}
