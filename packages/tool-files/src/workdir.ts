import type {} from '@offshoot/agent'
import type { ToolExec } from '@offshoot/tools'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { explain, FileError, systemCode } from './error.ts'

const maxLinks = 40

/** The folder that an agent's file tools must not leave. Every path that a model gives goes through `resolve` first. */
export class Workdir {
  /** As the agent states it. */
  readonly cwd: string
  /** The same folder without symbolic links. */
  readonly root: string

  private constructor(cwd: string, root: string) {
    this.cwd = cwd
    this.root = root
  }

  /** @throws {FileError} `NO_AGENT` for a call without an agent; `NOT_FOUND` for a folder that is gone. */
  static async of(tool: string, exec: ToolExec): Promise<Workdir> {
    const cwd = exec.agent?.cwd
    if (cwd === undefined) throw new FileError('NO_AGENT', `${tool} requires a calling agent (exec.agent was undefined)`)
    try {
      return new Workdir(cwd, await realpath(cwd))
    } catch (error) {
      throw new FileError('NOT_FOUND', `the working directory "${cwd}" cannot be used: ${(error as Error).message}`, { cause: error })
    }
  }

  /**
   * Where `path` really is: links followed, dangling ones too. What does not exist yet is where its nearest
   * existing parent folder is.
   *
   * @throws {FileError} `OUTSIDE` if that is not inside the working directory.
   */
  async resolve(path: string): Promise<string> {
    if (path.includes('\0')) throw new FileError('INVALID_ARGUMENT', 'a path cannot hold a NUL character')
    try {
      return await this.follow(resolve(this.cwd, path), path, 0)
    } catch (error) {
      throw explain(error, path)
    }
  }

  /**
   * Where `path` really is, for writing.
   *
   * @throws {FileError} also `PROTECTED` inside a `.git`: what is written there runs as code.
   */
  async resolveForWriting(path: string): Promise<string> {
    const real = await this.resolve(path)
    const parts = [relative(this.cwd, resolve(this.cwd, path)), relative(this.root, real)].flatMap(each => each.split(sep))
    // Some file systems do not tell `.GIT` from `.git`.
    if (parts.some(part => part.toLowerCase() === '.git')) {
      throw new FileError('PROTECTED', `"${path}" is inside .git, which file tools do not write: hooks and config there run as code`)
    }
    return real
  }

  /** `real` as the model names it: relative to the working directory, with `/`. */
  show(real: string): string {
    return relative(this.root, real).replaceAll(sep, '/') || '.'
  }

  /**
   * Open a regular file that `resolve` answered, for reading. It never waits for a FIFO and follows no link.
   *
   * @throws {FileError} `NOT_A_FILE`; `CHANGED` if the path led elsewhere meanwhile.
   */
  async open(real: string): Promise<FileHandle> {
    let file: FileHandle | undefined
    try {
      checkRegular(await lstat(real), this.show(real))
      file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
      // A parent folder can be swapped for a link between `resolve` and `open`: what was opened must be what is there.
      const [opened, there] = [await file.stat(), await lstat(real)]
      if (opened.ino !== there.ino || opened.dev !== there.dev || await realpath(real) !== real) throw changed(this.show(real))
      checkRegular(opened, this.show(real))
      return file
    } catch (error) {
      await file?.close()
      throw explain(error, this.show(real))
    }
  }

  private async follow(absolute: string, asked: string, links: number): Promise<string> {
    // Before the disk is asked, so that nothing is learnt of what lies outside.
    if (!inside(this.cwd, absolute) && !inside(this.root, absolute)) throw this.outside(asked)
    if (links > maxLinks) throw new FileError('NOT_A_FILE', `"${asked}" leads through more than ${maxLinks} symbolic links`)
    const real = await unlessMissing(realpath(absolute))
    if (real !== undefined) {
      if (!inside(this.root, real)) throw this.outside(asked)
      return real
    }
    const parent = await this.follow(dirname(absolute), asked, links)
    const target = await unlessMissing(readlink(absolute))
    if (target === undefined) return join(parent, basename(absolute))
    return this.follow(resolve(parent, target), asked, links + 1)
  }

  private outside(asked: string): FileError {
    return new FileError('OUTSIDE', `"${asked}" leads outside the working directory ${this.cwd}; give a path inside it`)
  }
}

/** @throws {FileError} `NOT_A_FILE`, saying what it is. */
export function checkRegular(stats: Stats, shown: string): void {
  if (stats.isFile()) return
  if (stats.isDirectory()) throw new FileError('NOT_A_FILE', `"${shown}" is a folder; list_files shows what is in it`)
  const kind = stats.isFIFO() ? 'a FIFO' : stats.isSocket() ? 'a socket' : stats.isSymbolicLink() ? 'a symbolic link' : 'a device'
  throw new FileError('NOT_A_FILE', `"${shown}" is ${kind}, not a regular file`)
}

export function changed(shown: string): FileError {
  return new FileError('CHANGED', `the path "${shown}" changed while it was being opened; try again`)
}

function inside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

async function unlessMissing<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'EINVAL') return undefined
    throw error
  }
}
