import { type Entry, labelEntry, type Position } from './entry.ts'
import type { AppProblem } from './error.ts'

interface Finding extends AppProblem {
  readonly at: Position
}

const NOWHERE: Position = { line: Infinity, col: 0 }

/** What a load finds wrong: each once, in the order of the file. */
export class Findings {
  private readonly found = new Map<string, Finding>()
  private readonly file: string

  /** `file` as people should see it. */
  constructor(file: string) {
    this.file = file
  }

  get size(): number {
    return this.found.size
  }

  where(at: Position): string {
    return `${this.file}:${at.line}:${at.col}`
  }

  /** The problem that `message` states about an entry; about the app as a whole without one. */
  describe(entry: Entry | undefined, message: string, error?: unknown): AppProblem {
    return {
      where: entry ? this.where(entry.at) : this.file,
      message: entry ? `${labelEntry(entry)}: ${message}` : message,
      ...(error === undefined ? {} : { error }),
    }
  }

  addToEntry(entry: Entry | undefined, message: string, error?: unknown): void {
    this.add({ ...this.describe(entry, message, error), at: entry?.at ?? NOWHERE })
  }

  addAt(at: Position, message: string): void {
    this.add({ where: this.where(at), message, at })
  }

  list(): AppProblem[] {
    return [...this.found.values()]
      .sort((a, b) => a.at.line - b.at.line || a.at.col - b.at.col)
      .map(({ at: _, ...problem }) => problem)
  }

  private add(finding: Finding): void {
    const key = `${finding.where}: ${finding.message}`
    if (!this.found.has(key)) this.found.set(key, finding)
  }
}
