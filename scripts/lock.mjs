import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

/**
 * Take the lock folder `path`, waiting for whoever has it. A holder that is gone does not count.
 *
 * The folder holds one file, named after its holder's pid. Each step is one rename, which only one process can win:
 * a folder made ready is moved into place, or the file of a dead holder is renamed to the new one's.
 *
 * @param {string} path
 * @param {number} limitMs
 * @returns the function that gives it back
 * @throws if it is still held after `limitMs`
 */
export async function lock(path, limitMs) {
  const mine = String(process.pid)
  const ready = `${path}.${mine}`
  const deadline = Date.now() + limitMs
  mkdirSync(ready, { recursive: true })
  writeFileSync(join(ready, mine), '')
  try {
    while (!attempt(path, ready, mine)) {
      if (Date.now() > deadline) throw new Error(`${path} is held by process ${holder(path)}; remove that folder if nothing is installing`)
      await setTimeout(100)
    }
  } finally {
    rmSync(ready, { recursive: true, force: true })
  }
  return () => {
    rmSync(join(path, mine), { force: true })
    // Whoever waits may have moved in already.
    unless(['ENOENT', 'ENOTEMPTY', 'EEXIST'], () => rmdirSync(path))
  }
}

/** @param {string} path @param {string} ready @param {string} mine */
function attempt(path, ready, mine) {
  if (unless(['ENOTEMPTY', 'EEXIST'], () => renameSync(ready, path))) return true
  const other = holder(path)
  return other !== undefined && !isAlive(Number(other)) && unless(['ENOENT'], () => renameSync(join(path, other), join(path, mine)))
}

/** @param {string} path */
function holder(path) {
  /** @type {string[]} */
  let names = []
  unless(['ENOENT'], () => { names = readdirSync(path) })
  return names[0]
}

/** @param {number} pid */
function isAlive(pid) {
  return unless(['ESRCH'], () => { unless(['EPERM'], () => process.kill(pid, 0)) })
}

/** Whether `action` succeeded; an error whose code is in `codes` means that it did not. @param {string[]} codes @param {() => void} action */
function unless(codes, action) {
  try {
    action()
    return true
  } catch (error) {
    if (codes.includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? '')) return false
    throw error
  }
}
