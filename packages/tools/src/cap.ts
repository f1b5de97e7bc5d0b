import type { ContentBlock } from '@offshoot/session'
import { afterCut, beforeCut, joinCut, pointerTo, sentenceBytes, wholeIsKept } from './cut.ts'
import { CappedOutput } from './output.ts'
import type { SpillStore } from './spill.ts'
import type { Tool, ToolResult } from './types.ts'
import type { ToolView } from './view.ts'

/** No limit cuts below it: the sentence between head and tail has to fit. */
export const minOutputBytes = 512

export interface OutputLimits {
  /** Of one result, where its tool has no limit of its own. */
  readonly maxOutputBytes: number
  /** Of all results of one step together. */
  readonly maxStepOutputBytes: number
  /** Of everything that was cut and is kept for reading back. */
  readonly maxSpillBytes: number
}

type TextBlock = Exclude<ContentBlock, { type: 'file' }>

/** How much of what tools answer a model reads. Lengths are bytes of text; files and images are neither cut nor counted. */
export class OutputCap {
  private readonly limits: OutputLimits
  private readonly spills: SpillStore

  constructor(limits: OutputLimits, spills: SpillStore) {
    this.limits = limits
    this.spills = spills
  }

  /** The most that a result may hold: of a tool with a limit of its own, that one; never more than a step's. */
  maxBytes(tool?: Pick<Tool, 'maxOutputBytes'>): number {
    const { maxOutputBytes, maxStepOutputBytes } = this.limits
    return Math.min(tool?.maxOutputBytes ?? maxOutputBytes, maxStepOutputBytes)
  }

  /** The most that one step may bring: its results together, and so the notices that are told at once. */
  get maxStepBytes(): number {
    return this.limits.maxStepOutputBytes
  }

  /** A result within the limit of the tool that gave it. The same object where it fits. */
  result(result: ToolResult, tool: string, view: ToolView): ToolResult {
    return capResult(result, this.maxBytes(view.get(tool)), this.spills, view.readsSpills)
  }

  /**
   * The results of one step, within its limit together: the longest are cut to one length, the others stay whole.
   * Only more results than `minOutputBytes` leaves room for go over it. The same objects where they fit.
   */
  step(results: ToolResult[], view: ToolView): ToolResult[] {
    const { maxStepOutputBytes: max } = this.limits
    if (mostBytes(results) <= max) return results
    const sizes = results.map(({ content }) => textBytes(content))
    const level = cutLevel(sizes, max)
    return results.map((result, i) => sizes[i]! <= level ? result : capResult(result, level, this.spills, view.readsSpills))
  }
}

/**
 * `text` within `maxBytes` (`minOutputBytes` at least), as `CappedOutput` cuts it, the sentence included. What was cut
 * before and is whole in a spill is cut anew, and points to that same spill.
 */
export function capText(text: string, maxBytes: number, spills: SpillStore, canRead = true): string {
  const max = Math.max(minOutputBytes, maxBytes)
  if (text.length * 3 <= max || Buffer.byteLength(text) <= max) return text
  const keep = max - sentenceBytes
  const again = cutAgain(text, keep, spills, canRead)
  if (again !== undefined) return again
  const output = new CappedOutput(spills, keep)
  output.write(Buffer.from(text))
  return output.end(canRead)
}

function cutAgain(text: string, keep: number, spills: SpillStore, canRead: boolean): string | undefined {
  const bytes = Buffer.byteLength(text)
  for (const { 0: sentence, 1: count, 2: id = '', index } of text.matchAll(wholeIsKept)) {
    const size = spills.size(id)
    if (size === undefined || size - Number(count) !== bytes - Buffer.byteLength(sentence)) continue
    const head = Buffer.from(text.slice(0, index))
    const tail = Buffer.from(text.slice(index + sentence.length))
    // The sentence may be a quotation: only what the spill does hold need not be kept once more.
    if (!spills.has(id, head, tail)) return undefined
    const half = Math.floor(keep / 2)
    return joinCut(beforeCut(head.subarray(0, half)), afterCut(tail.subarray(Math.max(0, tail.length - half))), size, pointerTo(id, undefined, canRead))
  }
  return undefined
}

function capResult(result: ToolResult, maxBytes: number, spills: SpillStore, canRead: boolean): ToolResult {
  const { content, isError } = result
  if (mostBytes([result]) <= maxBytes || textBytes(content) <= maxBytes) return result
  if (content.every(block => block.type === 'text')) {
    // A model reads several texts as lines of one.
    const text = capText(content.map(block => block.text).join('\n'), maxBytes, spills, canRead)
    return { content: Object.freeze([Object.freeze({ type: 'text' as const, text })]), isError }
  }
  const level = cutLevel(content.map(bytesOf), maxBytes - joints(content))
  const cut = (block: ContentBlock): ContentBlock => hasText(block) ? Object.freeze({ ...block, text: capText(block.text, level, spills, canRead) }) : block
  return { content: Object.freeze(content.map(cut)), isError }
}

/** The length to which the longest of `sizes` are cut, so that all together have `max`. */
function cutLevel(sizes: readonly number[], max: number): number {
  let left = max
  let level = max
  for (const [i, size] of sizes.toSorted((a, b) => a - b).entries()) {
    level = Math.floor(left / (sizes.length - i))
    if (size > level) break
    left -= size
  }
  return Math.max(minOutputBytes, level)
}

/** What the text of `results` has at most, told without looking at each character. */
function mostBytes(results: readonly ToolResult[]): number {
  let most = 0
  for (const { content } of results) for (const block of content) if (hasText(block)) most += block.text.length * 3 + 1
  return most
}

function textBytes(content: readonly ContentBlock[]): number {
  return content.reduce((sum, block) => sum + bytesOf(block), joints(content))
}

/** What joins its texts. */
function joints(content: readonly ContentBlock[]): number {
  return Math.max(0, content.filter(hasText).length - 1)
}

function bytesOf(block: ContentBlock): number {
  return hasText(block) ? Buffer.byteLength(block.text) : 0
}

function hasText(block: ContentBlock): block is TextBlock {
  return block.type !== 'file'
}
