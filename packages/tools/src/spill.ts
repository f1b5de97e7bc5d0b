import { randomBytes } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from './error.ts'

/** A file that receives what a tool cut from its output. */
export interface Spill {
  /** What `read_file {"path": "spill:<id>"}` reads it back by. */
  readonly id: string
  /** @throws what the disk says, for one that is full; {ToolError} `SPILL_CLOSED` once it is closed or the app is gone. */
  write(chunk: Uint8Array): void
  /** Idempotent. What was written stays readable until the app goes. */
  close(): void
}

/** Long output that was cut, in a private folder outside every working directory. It goes with the app. */
export class SpillStore {
  private folder: string | undefined
  private disposed = false
  private readonly ids = new Set<string>()
  private readonly opened = new Set<Spill>()

  /** @throws what the disk says; {ToolError} `SPILL_CLOSED` once the app is gone. */
  open(): Spill {
    if (this.disposed) throw closed()
    this.folder ??= mkdtempSync(join(tmpdir(), 'offshoot-spill-'))
    const id = randomBytes(6).toString('hex')
    const spill = new FileSpill(id, openSync(join(this.folder, id), 'wx', 0o600), () => this.opened.delete(spill))
    this.ids.add(id)
    this.opened.add(spill)
    return spill
  }

  /** Where the spill of that id is; `undefined` for one that this app never made. */
  path(id: string): string | undefined {
    return this.folder !== undefined && this.ids.has(id) ? join(this.folder, id) : undefined
  }

  /** Close and remove every spill. The store makes no more. */
  dispose(): void {
    this.disposed = true
    for (const spill of this.opened) spill.close()
    if (this.folder !== undefined) rmSync(this.folder, { recursive: true, force: true })
    this.folder = undefined
    this.ids.clear()
  }
}

class FileSpill implements Spill {
  readonly id: string
  private fd: number | undefined
  private readonly onClose: () => void

  constructor(id: string, fd: number, onClose: () => void) {
    this.id = id
    this.fd = fd
    this.onClose = onClose
  }

  write(chunk: Uint8Array): void {
    // A number kept past its closing may by now be another file.
    if (this.fd === undefined) throw closed()
    let written = 0
    while (written < chunk.length) written += writeSync(this.fd, chunk, written)
  }

  close(): void {
    if (this.fd === undefined) return
    closeSync(this.fd)
    this.fd = undefined
    this.onClose()
  }
}

function closed(): ToolError {
  return new ToolError('SPILL_CLOSED', 'the spill is closed: write to it before its output ends, and while the app runs')
}
