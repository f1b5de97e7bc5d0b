import { bootId, identify, isAlive, type ProcessId } from '@offshoot/processes'
import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Family } from './family.ts'

const version = 1
/** Between SIGTERM and SIGKILL for what a host left behind: nobody waits for its work any more. */
const terminateMs = 1000
const pollMs = 20

interface LaunchRecord {
  readonly version: typeof version
  readonly boot: string
  readonly host: ProcessId
  readonly child: ProcessId
  /** What marks its environment. */
  readonly mark: string
  /** The program's name alone: arguments can hold secrets. */
  readonly command: string
}

export interface ReapedOrphan {
  readonly pid: number
  readonly command: string
}

/** A folder of this user's alone, for every app of this user. */
export function defaultRecordsDir(): string {
  return join(tmpdir(), `offshoot-agents-${userInfo().uid}`)
}

/** A record on disk of each agent that this process has started, so that a later one can end what a crash left behind. */
export class LaunchRecords {
  private readonly dir: string
  private readonly boot: string
  private readonly host: ProcessId

  /** @throws {Error} for a folder that cannot be made, or that others can write to. */
  constructor(dir: string) {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const { uid, mode } = lstatSync(dir)
    if (!lstatSync(dir).isDirectory() || uid !== userInfo().uid || (mode & 0o022) !== 0) {
      throw new Error(`${dir} is not a folder of this user alone: agents that a crash leaves behind will not be found; remove it`)
    }
    const host = identify(process.pid)
    if (!host) throw new Error('this process cannot be told apart from others: agents that a crash leaves behind will not be found')
    this.dir = dir
    this.boot = bootId()
    this.host = host
  }

  /** Record a child. Call the answer once nothing of it lives. */
  add(child: ProcessId, command: string, mark: string): () => void {
    const file = join(this.dir, `${child.pid}-${randomUUID()}.json`)
    const record: LaunchRecord = { version, boot: this.boot, host: this.host, child, mark, command: basename(command) }
    try {
      // Renamed into place: whoever reads it finds all of it.
      writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 })
      renameSync(`${file}.new`, file)
    } catch {
      // No room, no right any more: the child runs without.
    }
    return () => { remove(file) }
  }

  /** End what hosts left behind that are gone. Does not touch what a living host owns, nor who has a child's pid by now. */
  async reapOrphans(): Promise<ReapedOrphan[]> {
    const reaped = await Promise.all(readdirSync(this.dir).map(name => this.reap(name)))
    return reaped.filter(orphan => orphan !== undefined)
  }

  private async reap(name: string): Promise<ReapedOrphan | undefined> {
    const [, own, pid, startTime] = /^(\d+-[\w-]+\.json)(?:\.(\d+)-(\S+))?$/.exec(name) ?? []
    if (own === undefined) return undefined
    // Claimed, and whoever claimed it is at it; or has ended in the middle.
    if (pid !== undefined && isAlive({ pid: Number(pid), startTime: decodeURIComponent(startTime!) })) return undefined
    const record = readRecord(join(this.dir, name))
    if (record && record.boot === this.boot && isAlive(record.host)) return undefined
    // Whoever takes it away has it: of several hosts that start at once, one.
    const claimed = join(this.dir, `${own}.${this.host.pid}-${encodeURIComponent(this.host.startTime)}`)
    try {
      renameSync(join(this.dir, name), claimed)
    } catch {
      return undefined
    }
    try {
      if (record?.boot !== this.boot) return undefined
      const family = new Family(record.child.pid, record.child, record.mark)
      return await endFamily(family) ? { pid: record.child.pid, command: record.command } : undefined
    } finally {
      remove(claimed)
    }
  }
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // No right any more: it stays, and names processes that are over.
  }
}

/** Answers whether anything lived. */
async function endFamily(family: Family): Promise<boolean> {
  if (family.alive().length === 0) return false
  family.terminate()
  const end = performance.now() + terminateMs
  while (family.hasGroup && performance.now() < end) await delay(pollMs)
  family.kill()
  return true
}

function readRecord(file: string): LaunchRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(file, 'utf8')) as Partial<LaunchRecord> | null
    const isWhole = record?.version === version && [record.host, record.child].every(id => Number.isInteger(id?.pid) && typeof id?.startTime === 'string')
      && isEndable(record.child) && [record.boot, record.mark, record.command].every(text => typeof text === 'string' && text !== '')
    return isWhole ? record as LaunchRecord : undefined
  } catch {
    return undefined
  }
}

/** Everybody descends from 0 and 1: ended with what belongs to them, all would be. A host can well be 1. */
function isEndable(child: ProcessId | undefined): boolean {
  return child !== undefined && child.pid > 1
}
