import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { WorktreeError } from './error.ts'
import { git, gitWords } from './git.ts'

export interface RepositoryOptions {
  /** Where worktrees are made: absolute, or relative to the repository. Default: in the user's data folder, one for each repository. */
  readonly dir?: string
  /** How long one command of git, or the wait for the lock, may take, in milliseconds. */
  readonly timeoutMs: number
}

/** One repository, whatever worktree of it somebody came by. */
export class Repository {
  /** What all its worktrees share. */
  readonly commonDir: string
  /** Where its worktrees are made. */
  readonly base: string
  readonly timeoutMs: number

  private constructor(commonDir: string, { dir, timeoutMs }: RepositoryOptions) {
    this.commonDir = commonDir
    this.timeoutMs = timeoutMs
    const home = basename(commonDir) === '.git' ? dirname(commonDir) : commonDir
    this.base = dir === undefined ? defaultBase(home, commonDir) : isAbsolute(dir) ? dir : resolve(home, dir)
  }

  /** @throws {WorktreeError} `NOT_SUPPORTED` for a folder in no repository, or where there is no git. */
  static async of(folder: string, options: RepositoryOptions, signal?: AbortSignal): Promise<Repository> {
    if (!isAbsolute(folder)) throw new WorktreeError('VALIDATION', `the repository "${folder}" must be an absolute path`)
    const found = await git(['rev-parse', '--path-format=absolute', '--git-common-dir'], { cwd: folder, timeoutMs: options.timeoutMs, signal })
    if (found.code !== 0) throw new WorktreeError('NOT_SUPPORTED', `${folder} is in no git repository (${gitWords(found)})`)
    return new Repository(found.stdout.trimEnd(), options)
  }

  /** Run git on what all worktrees share. */
  run(args: readonly string[], signal?: AbortSignal) {
    return git([`--git-dir=${this.commonDir}`, ...args], { cwd: this.commonDir, timeoutMs: this.timeoutMs, signal })
  }

  /** Run git as in one of its worktrees. */
  runIn(folder: string, args: readonly string[], signal?: AbortSignal) {
    return git(args, { cwd: folder, timeoutMs: this.timeoutMs, signal })
  }

  get lockPath(): string {
    return join(this.commonDir, 'offshoot-worktrees.lock')
  }

  get recordsDir(): string {
    return join(this.commonDir, 'offshoot-worktrees')
  }
}

/** Outside the repository: no `git status`, no search and no watcher of its checkout meets them. */
function defaultBase(home: string, commonDir: string): string {
  const data = process.env['XDG_DATA_HOME']
  return join(data && isAbsolute(data) ? data : join(homedir(), '.local', 'share'), 'offshoot', 'worktrees', `${basename(home)}-${createHash('sha256').update(commonDir).digest('hex').slice(0, 8)}`)
}
