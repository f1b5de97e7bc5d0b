import type { ToolResult } from '@offshoot/tools'
import type { Call } from './reply.ts'

/** Counts how often in a row a step made the same calls and got the same results. */
export class Repeats {
  private readonly max: number
  private calls: readonly Call[] = []
  private results: readonly ToolResult[] = []
  private count = 0

  /** `max`: how many identical steps in a row are too many. */
  constructor(max: number) {
    this.max = max
  }

  /** Take the next step's calls. Answers whether that is one repetition too many. */
  add(calls: readonly Call[], results: readonly ToolResult[]): boolean {
    this.count = this.isSame(calls, results) ? this.count + 1 : 1
    this.calls = calls
    this.results = results
    return this.count >= this.max
  }

  private isSame(calls: readonly Call[], results: readonly ToolResult[]): boolean {
    return calls.length === this.calls.length
      // Names first: a step that calls other tools is told apart without reading anything.
      && calls.every(({ name }, i) => name === this.calls[i]!.name)
      && calls.every(({ args }, i) => inJson(args) === inJson(this.calls[i]!.args))
      && results.every(({ content, isError }, i) => isError === this.results[i]!.isError && inJson(content) === inJson(this.results[i]!.content))
  }
}

function inJson(value: unknown): string | undefined {
  return JSON.stringify(value)
}
