import { createHash } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from './error.ts'

/** A file that receives what a tool cut from its output. */
export interface Spill {
  /** @throws what the disk says, for one that is full; {ToolError} `SPILL_CLOSED` once it is closed or the app is gone, `SPILL_FULL`. */
  write(chunk: Uint8Array): void
  /**
   * The end of it. Answers the id that `read_file {"path": "spill:<id>"}` reads it back by: the same content has the same id,
   * so that a call which is made again has the same result. Idempotent.
   *
   * @throws what the disk says; {ToolError} `SPILL_CLOSED` once the app is gone.
   */
  close(): string
}

/** Long output that was cut, in a private folder outside every working directory. It goes with the app. */
export class SpillStore {
  private readonly maxBytes: number
  private folder: string | undefined
  private disposed = false
  private used = 0
  private counter = 0
  /** Sizes, the oldest first. */
  private readonly kept = new Map<string, number>()
  private readonly opened = new Set<FileSpill>()

  /** `maxBytes`: of all spills together. The oldest make room for new ones. */
  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** @throws what the disk says; {ToolError} `SPILL_CLOSED` once the app is gone. */
  open(): Spill {
    if (this.disposed) throw closed()
    const folder = this.folder ??= mkdtempSync(join(tmpdir(), 'offshoot-spill-'))
    const path = join(folder, `open-${++this.counter}`)
    const spill = new FileSpill(path, openSync(path, 'wx', 0o600), this)
    this.opened.add(spill)
    return spill
  }

  /** Where the spill of that id is; `undefined` for one that this app never made, or that made room for others. */
  path(id: string): string | undefined {
    return this.folder !== undefined && this.kept.has(id) ? join(this.folder, id) : undefined
  }

  /** How many bytes the spill of that id has; `undefined` as for `path`. */
  size(id: string): number | undefined {
    return this.kept.get(id)
  }

  /** Whether the spill of that id begins with `head` and ends with `tail`. */
  has(id: string, head: Uint8Array, tail: Uint8Array): boolean {
    const [path, size] = [this.path(id), this.kept.get(id)]
    if (path === undefined || size === undefined) return false
    let fd: number | undefined
    try {
      fd = openSync(path, 'r')
      return isAt(fd, head, 0) && isAt(fd, tail, size - tail.length)
    } catch {
      return false
    } finally {
      if (fd !== undefined) closeSync(fd)
    }
  }

  /** Close and remove every spill. The store makes no more. */
  dispose(): void {
    this.disposed = true
    for (const spill of this.opened) spill.abandon()
    if (this.folder !== undefined) rmSync(this.folder, { recursive: true, force: true })
    this.folder = undefined
    this.kept.clear()
    this.opened.clear()
  }

  /** Called by a spill before it writes. @throws {ToolError} `SPILL_FULL`. */
  makeRoom(bytes: number): void {
    for (const id of this.kept.keys()) {
      if (this.used + bytes <= this.maxBytes) return
      this.forget(id)
    }
    if (this.used + bytes <= this.maxBytes) return
    throw new ToolError('SPILL_FULL', `outputs under way fill all ${this.maxBytes} bytes (maxSpillBytes)`)
  }

  /** Called by a spill that has written. */
  wrote(bytes: number): void {
    this.used += bytes
  }

  /** Called by a spill that has ended. */
  keep(spill: FileSpill, id: string): void {
    this.opened.delete(spill)
    this.forget(id)
    renameSync(spill.path, join(this.folder!, id))
    this.kept.set(id, spill.size)
  }

  private forget(id: string): void {
    const size = this.kept.get(id)
    if (size === undefined) return
    rmSync(join(this.folder!, id), { force: true })
    this.kept.delete(id)
    this.used -= size
  }
}

class FileSpill implements Spill {
  /** Where it is until it ends. */
  readonly path: string
  size = 0
  private readonly store: SpillStore
  private readonly hash = createHash('sha256')
  private fd: number | undefined
  private id: string | undefined

  constructor(path: string, fd: number, store: SpillStore) {
    this.path = path
    this.fd = fd
    this.store = store
  }

  write(chunk: Uint8Array): void {
    // A number kept past its closing may by now be another file.
    if (this.fd === undefined) throw closed()
    this.store.makeRoom(chunk.length)
    let written = 0
    while (written < chunk.length) written += writeSync(this.fd, chunk, written)
    this.hash.update(chunk)
    this.size += chunk.length
    this.store.wrote(chunk.length)
  }

  close(): string {
    if (this.id !== undefined) return this.id
    if (this.fd === undefined) throw closed()
    this.abandon()
    const id = this.hash.digest('hex').slice(0, 16)
    this.store.keep(this, id)
    return this.id = id
  }

  /** Let go of the file. What it holds cannot be read back. */
  abandon(): void {
    if (this.fd === undefined) return
    const { fd } = this
    this.fd = undefined
    closeSync(fd)
  }
}

function isAt(fd: number, bytes: Uint8Array, position: number): boolean {
  if (position < 0) return false
  const there = Buffer.allocUnsafe(bytes.length)
  let read = 0
  while (read < there.length) {
    const more = readSync(fd, there, read, there.length - read, position + read)
    if (more === 0) return false
    read += more
  }
  return there.equals(bytes)
}

function closed(): ToolError {
  return new ToolError('SPILL_CLOSED', 'the spill is closed: write to it before its output ends, and while the app runs')
}
