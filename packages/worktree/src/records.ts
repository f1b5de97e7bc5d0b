import { bootId, identify, isAlive, type ProcessId } from '@offshoot/processes'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import { createHash } from 'node:crypto'

/** What is known of a worktree that this package made, beside the repository's own data. */
export interface WorktreeRecord {
  readonly path: string
  /** Of the folder that it was made from, in its checkout; empty for the checkout itself. */
  readonly prefix: string
  /** The branch that was made for it. */
  readonly branch?: string | undefined
  readonly base: string
  /** The newest stash when it was made. */
  readonly stash: string
  readonly owner: ProcessId & { readonly boot: string, readonly machine: string }
  readonly createdAt: number
  /** Why it was not removed when it was to be. */
  readonly kept?: string
}

export function newRecord(made: Omit<WorktreeRecord, 'owner' | 'createdAt'>): WorktreeRecord {
  const owner = { pid: process.pid, startTime: identify(process.pid)?.startTime ?? '0', boot: bootId(), machine: hostname() }
  return { ...made, owner, createdAt: Date.now() }
}

/** Whether whoever made it lives; `undefined` where that cannot be told from here. */
export function isOwnerAlive({ owner }: WorktreeRecord): boolean | undefined {
  if (owner.machine !== hostname()) return undefined
  return owner.boot === bootId() && isAlive(owner)
}

export function writeRecord(dir: string, record: WorktreeRecord): void {
  mkdirSync(dir, { recursive: true })
  const file = fileOf(dir, record.path)
  // Renamed into place: whoever reads it finds all of it.
  writeFileSync(`${file}.new`, JSON.stringify(record))
  renameSync(`${file}.new`, file)
}

export function readRecord(dir: string, path: string): WorktreeRecord | undefined {
  return read(fileOf(dir, path))
}

export function removeRecord(dir: string, path: string): void {
  rmSync(fileOf(dir, path), { force: true })
}

export function readRecords(dir: string): WorktreeRecord[] {
  try {
    return readdirSync(dir).filter(name => name.endsWith('.json')).flatMap(name => read(join(dir, name)) ?? [])
  } catch {
    return []
  }
}

function fileOf(dir: string, path: string): string {
  return join(dir, `${basename(path).replaceAll(/[^\w.-]/g, '_')}-${createHash('sha256').update(path).digest('hex').slice(0, 12)}.json`)
}

function read(file: string): WorktreeRecord | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as WorktreeRecord
  } catch {
    return undefined
  }
}
