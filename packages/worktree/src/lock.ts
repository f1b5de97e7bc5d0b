import { bootId, identify, isAlive } from '@offshoot/processes'
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { WorktreeError } from './error.ts'

const pollMs = 25
let counter = 0

/**
 * Take the lock folder `path`, waiting for whoever has it, in this process or another one. A holder that is gone does not count, which is known by its
 * pid, when it began, the boot and the machine; any other holder is waited for.
 *
 * The folder holds one file, named after its holder. Each step is one rename, which only one can win: a folder made ready is moved into place, or the
 * file of a holder that is gone is renamed to the new one's.
 *
 * @returns what gives it back
 * @throws {WorktreeError} `TIMEOUT`; the reason of `signal`
 */
export async function lock(path: string, timeoutMs: number, signal?: AbortSignal): Promise<() => void> {
  const mine = ownName()
  const ready = `${path}.${mine}`
  const deadline = Date.now() + timeoutMs
  mkdirSync(ready, { recursive: true })
  writeFileSync(join(ready, mine), '')
  try {
    while (!attempt(path, ready, mine)) {
      if (Date.now() > deadline) throw new WorktreeError('TIMEOUT', `${path} is held by ${holderOf(path) ?? 'somebody'} for longer than ${timeoutMs} ms (timeoutMs); remove that folder if nothing works there`)
      await delay(pollMs, undefined, { signal }).catch(() => { signal?.throwIfAborted() })
    }
  } finally {
    rmSync(ready, { recursive: true, force: true })
  }
  return () => {
    rmSync(join(path, mine), { force: true })
    // Whoever waits may have moved in already.
    unless(['ENOENT', 'ENOTEMPTY', 'EEXIST'], () => { rmdirSync(path) })
  }
}

/** `<pid>-<start>-<boot>-<machine>-<n>`: this taking of the lock, told apart from every other. */
function ownName(): string {
  return [process.pid, identify(process.pid)?.startTime ?? '0', bootId(), hostname(), ++counter].map(each => encodeURIComponent(String(each)).replaceAll('-', '%2D')).join('-')
}

function attempt(path: string, ready: string, mine: string): boolean {
  if (unless(['ENOTEMPTY', 'EEXIST'], () => { renameSync(ready, path) })) return true
  const other = holderOf(path)
  return other !== undefined && isGone(other) && unless(['ENOENT'], () => { renameSync(join(path, other), join(path, mine)) })
}

function isGone(holder: string): boolean {
  const [pid, startTime, boot, machine] = holder.split('-').map(decodeURIComponent)
  if (machine !== hostname()) return false
  return boot !== bootId() || !isAlive({ pid: Number(pid), startTime: startTime ?? '' })
}

function holderOf(path: string): string | undefined {
  let names: string[] = []
  unless(['ENOENT'], () => { names = readdirSync(path) })
  return names[0]
}

/** Whether `action` succeeded; an error whose code is in `codes` means that it did not. */
function unless(codes: readonly string[], action: () => void): boolean {
  try {
    action()
    return true
  } catch (error) {
    if (codes.includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}
