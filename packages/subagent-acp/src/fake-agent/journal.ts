import { appendFileSync } from 'node:fs'

/** What happened, one line each: the pid, what, and more of it as JSON. Several agents can share a file. */
export class Journal {
  private readonly path: string | undefined

  constructor(path: string | undefined) {
    this.path = path
  }

  write(what: string, more?: unknown): void {
    if (this.path === undefined) return
    try {
      appendFileSync(this.path, `${process.pid} ${what}${more === undefined ? '' : ` ${JSON.stringify(more)}`}\n`)
    } catch {
      // Its reader has cleaned up.
    }
  }
}
