import type * as ChildProcess from 'node:child_process'
import type * as Fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'


const [stdout, stderr] = [1, 2]

/**
 * Send to stderr what any code of this process writes to descriptor 1 by its number, or hands to a program that it starts: the protocol alone goes there.
 * What `process.stdout` is asked to write is not touched. Code that is no JavaScript is out of reach.
 */
export function guardStdout(): void {
  // The modules themselves, which everybody gets.
  const require = createRequire(import.meta.url)
  const fs = require('node:fs') as typeof Fs
  const childProcess = require('node:child_process') as typeof ChildProcess
  for (const name of ['write', 'writeSync', 'writev', 'writevSync'] as const) {
    const original = fs[name] as (fd: number, ...rest: unknown[]) => unknown
    Object.assign(fs, { [name]: (fd: number, ...rest: unknown[]) => original(fd === stdout ? stderr : fd, ...rest) })
  }
  for (const name of ['spawnSync', 'execSync', 'execFileSync'] as const) {
    const original = childProcess[name] as (...args: unknown[]) => unknown
    Object.assign(childProcess, { [name]: (...args: unknown[]) => original(...args.map(asGuarded)) })
  }
  // What all others come down to.
  const prototype = childProcess.ChildProcess.prototype as unknown as { spawn: (this: unknown, options: object) => unknown }
  const { spawn } = prototype
  prototype.spawn = function (options) {
    return spawn.call(this, asGuarded(options) as object)
  }
  syncBuiltinESMExports()
}

/** Options of a program, which gets stderr where it would get stdout; anything else as it is. */
function asGuarded(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !('stdio' in value)) return value
  return { ...value, stdio: guarded(value.stdio as ChildProcess.StdioOptions | undefined) }
}

function guarded(stdio: ChildProcess.StdioOptions | undefined): ChildProcess.StdioOptions | undefined {
  if (stdio === 'inherit') return ['inherit', stderr, 'inherit']
  if (!Array.isArray(stdio)) return stdio
  return stdio.map((each, index) => each === stdout || each === process.stdout || each === 'inherit' && index === stdout ? stderr : each)
}
