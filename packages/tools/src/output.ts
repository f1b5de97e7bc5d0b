import type { Spill, SpillStore } from './spill.ts'

/** How much of one output a spill keeps at most. */
const maxSpillBytes = 64 * 1024 * 1024

/**
 * Output of any length, kept to `maxBytes`: its head and its tail, a sentence between them, and the whole of it
 * (its first 64 MiB) in a spill for reading back. Output that fits is left as it is, and makes no spill.
 * Memory stays bounded by `maxBytes`. Nothing that the disk does costs the caller more than the spill.
 */
export class CappedOutput {
  private readonly spills: SpillStore
  private readonly half: number
  /** The head in the first third; the tail slides within the other two. Until something is cut they are one text. */
  private readonly kept: Buffer
  private used = 0
  private total = 0
  private spilled = 0
  private spill: Spill | undefined
  private loss: string | undefined

  constructor(spills: SpillStore, maxBytes: number) {
    this.spills = spills
    this.half = Math.max(1, Math.floor(maxBytes / 2))
    this.kept = Buffer.allocUnsafe(3 * this.half)
  }

  write(chunk: Uint8Array): void {
    if (this.total + chunk.length > 2 * this.half) this.spillOver(chunk)
    this.total += chunk.length
    this.keep(chunk)
  }

  /** The output as text; bytes that are no UTF-8 become U+FFFD. Call it once, at the end. */
  end(): string {
    const { kept, half, used, total } = this
    if (total <= 2 * half) return kept.toString('utf8', 0, used)
    this.spill?.close()
    const head = withoutPartialEnd(kept.subarray(0, half))
    const tail = withoutPartialStart(kept.subarray(used - half, used))
    const sentence = `[${total - head.length - tail.length} bytes cut here; ${this.pointer()}]`
    return [head.toString(), sentence, tail.toString()].join('\n')
  }

  private pointer(): string {
    const { spill, spilled, total } = this
    if (!spill || spilled === 0) return `they could not be kept: ${this.loss}`
    const what = spilled < total ? `the first ${spilled} bytes of the output` : 'the whole output'
    return `${what}: read_file {"path": "spill:${spill.id}"}`
  }

  private spillOver(chunk: Uint8Array): void {
    if (this.loss !== undefined) return
    try {
      if (!this.spill) {
        this.spill = this.spills.open()
        this.spillPart(this.kept.subarray(0, this.used))
      }
      this.spillPart(chunk)
    } catch (error) {
      this.loss = error instanceof Error ? error.message : String(error)
    }
  }

  private spillPart(bytes: Uint8Array): void {
    const part = bytes.subarray(0, maxSpillBytes - this.spilled)
    this.spill?.write(part)
    this.spilled += part.length
  }

  private keep(chunk: Uint8Array): void {
    const { kept, half } = this
    const headRoom = Math.max(0, Math.min(chunk.length, half - this.used))
    kept.set(chunk.subarray(0, headRoom), this.used)
    this.used += headRoom
    const rest = chunk.subarray(headRoom)
    if (rest.length >= half) {
      kept.set(rest.subarray(rest.length - half), half)
      this.used = 2 * half
      return
    }
    if (this.used + rest.length > kept.length) {
      kept.copyWithin(half, this.used - half, this.used)
      this.used = 2 * half
    }
    kept.set(rest, this.used)
    this.used += rest.length
  }
}

/** `bytes` less the character that the cut after them split. */
function withoutPartialEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (isContinuation(byte)) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** `bytes` less the character that the cut before them split. */
function withoutPartialStart(bytes: Buffer): Buffer {
  let start = 0
  while (start < Math.min(3, bytes.length) && isContinuation(bytes[start]!)) start++
  return bytes.subarray(start)
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
