import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { ShellError } from './error.ts'

/**
 * The absolute path of the shell: of the one that is asked for, else of bash, else of sh.
 *
 * @throws {ShellError} `NO_SHELL` if it is not there.
 */
export function findShell(asked: string | undefined): string {
  const names = asked === undefined ? ['bash', 'sh', '/bin/sh'] : [asked]
  const found = names.flatMap(locations).find(isExecutable)
  if (found !== undefined) return found
  throw new ShellError('NO_SHELL', `no shell "${asked ?? 'sh'}" on this machine; name one on the PATH, or give the absolute path of one`)
}

function locations(name: string): string[] {
  if (isAbsolute(name)) return [name]
  if (name.includes('/')) return []
  return (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute).map(folder => join(folder, name))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
