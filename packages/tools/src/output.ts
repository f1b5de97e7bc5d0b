import type { Spill, SpillStore } from './spill.ts'

/** How much of one output a spill keeps at most. */
const maxSpillBytes = 64 * 1024 * 1024

/**
 * Output of any length, kept to `maxBytes`: its head and its tail, a sentence between them, and everything
 * in a spill for reading back. Memory stays bounded by `maxBytes`.
 */
export class CappedOutput {
  private readonly spills: SpillStore
  private readonly half: number
  private readonly head: Uint8Array[] = []
  private tail: Uint8Array[] = []
  private headBytes = 0
  private tailBytes = 0
  private total = 0
  private spill: Spill | undefined

  constructor(spills: SpillStore, maxBytes: number) {
    this.spills = spills
    this.half = Math.max(1, Math.floor(maxBytes / 2))
  }

  write(chunk: Uint8Array): void {
    const headRoom = Math.min(chunk.length, this.half - this.headBytes)
    if (headRoom > 0) {
      this.head.push(chunk.subarray(0, headRoom))
      this.headBytes += headRoom
    }
    const rest = chunk.subarray(Math.max(0, headRoom))
    if (this.spill || this.tailBytes + rest.length > this.half) this.spillOver(chunk, rest)
    this.total += chunk.length
    this.tail.push(rest)
    this.tailBytes += rest.length
    // Trimmed by halves, so that many small chunks cost what few large ones do.
    if (this.tailBytes > 2 * this.half) this.trimTail()
  }

  /** The output as text. Call it once, at the end. */
  end(): string {
    if (!this.spill) return decode([...this.head, ...this.tail])
    this.spill.close()
    this.trimTail()
    const cut = this.total - this.headBytes - this.tailBytes
    const kept = this.total > maxSpillBytes ? `the first ${maxSpillBytes} bytes of it are` : 'all of it is'
    return `${decode(this.head)}\n[${cut} bytes cut here; ${kept} in read_file {"path": "spill:${this.spill.id}"}]\n${decode(this.tail)}`
  }

  private spillOver(chunk: Uint8Array, rest: Uint8Array): void {
    if (!this.spill) {
      this.spill = this.spills.open()
      for (const part of this.head) this.spill.write(part)
      for (const part of this.tail) this.spill.write(part)
      this.spill.write(rest)
      return
    }
    if (this.total < maxSpillBytes) this.spill.write(chunk.subarray(0, maxSpillBytes - this.total))
  }

  private trimTail(): void {
    if (this.tailBytes <= this.half) return
    this.tail = [Buffer.concat(this.tail).subarray(this.tailBytes - this.half)]
    this.tailBytes = this.half
  }
}

/** Text of `chunks`; a character that the cut split at either end is left out. */
function decode(chunks: Uint8Array[]): string {
  const bytes = Buffer.concat(chunks)
  let start = 0
  while (start < Math.min(3, bytes.length) && (bytes[start]! & 0xc0) === 0x80) start++
  let end = bytes.length
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    if (length > back) end = bytes.length - back
    break
  }
  return bytes.subarray(start, end).toString('utf8')
}
