import { afterCut, beforeCut, joinCut, pointerTo } from './cut.ts'
import type { Spill, SpillStore } from './spill.ts'

/** How much of one output a spill keeps at most. */
const maxSpillBytes = 64 * 1024 * 1024

/** Of a reason, so that the sentence stays within `sentenceBytes`. */
const lossCharacters = 60

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

  /**
   * The output as text; bytes that are no UTF-8 become U+FFFD. Call it once, at the end.
   *
   * `canRead`: whether whoever is to read it has a tool for what was cut.
   */
  end(canRead = true): string {
    const { kept, half, used, total } = this
    if (total <= 2 * half) return kept.toString('utf8', 0, used)
    return joinCut(beforeCut(kept.subarray(0, half)), afterCut(kept.subarray(used - half, used)), total, this.where(canRead))
  }

  /** The id of the spill, if it holds anything. */
  private close(): string | undefined {
    try {
      const id = this.spill?.close()
      return this.spilled === 0 ? undefined : id
    } catch (error) {
      this.lost(error)
      return undefined
    }
  }

  private where(canRead: boolean): string {
    const id = this.close()
    if (id === undefined) return `they could not be kept: ${this.loss?.slice(0, lossCharacters)}`
    return pointerTo(id, this.spilled < this.total ? this.spilled : undefined, canRead)
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
      this.lost(error)
    }
  }

  private lost(error: unknown): void {
    this.loss ??= error instanceof Error ? error.message : String(error)
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
