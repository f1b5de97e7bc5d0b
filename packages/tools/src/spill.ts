import { randomBytes } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file that receives what a tool cut from its output. */
export interface Spill {
  /** What `read_file {"path": "spill:<id>"}` reads it back by. */
  readonly id: string
  write(chunk: Uint8Array): void
  close(): void
}

/** Long output that was cut, in a private folder outside every working directory. It goes with the app. */
export class SpillStore {
  private folder: string | undefined
  private readonly ids = new Set<string>()

  open(): Spill {
    this.folder ??= mkdtempSync(join(tmpdir(), 'offshoot-spill-'))
    const id = randomBytes(6).toString('hex')
    const fd = openSync(join(this.folder, id), 'wx', 0o600)
    this.ids.add(id)
    return { id, write: chunk => { writeSync(fd, chunk) }, close: () => { closeSync(fd) } }
  }

  /** Where the spill of that id is; `undefined` for one that this app never made. */
  path(id: string): string | undefined {
    return this.folder !== undefined && this.ids.has(id) ? join(this.folder, id) : undefined
  }

  dispose(): void {
    if (this.folder !== undefined) rmSync(this.folder, { recursive: true, force: true })
    this.folder = undefined
    this.ids.clear()
  }
}
