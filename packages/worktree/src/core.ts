import { existsSync, realpathSync, rmSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { type WorktreeConfig, worktreeAddArgs } from './args.ts'
import { listEntries, type WorktreeEntry } from './entries.ts'
import { WorktreeError } from './error.ts'
import { gitWords } from './git.ts'
import { lock } from './lock.ts'
import { lossOf, lostCommit, newestStash } from './loss.ts'
import { type Place, takePlace } from './place.ts'
import { isOwnerAlive, newRecord, readRecord, readRecords, removeRecord, type WorktreeRecord, writeRecord } from './records.ts'
import { Repository, type RepositoryOptions } from './repository.ts'
import { changesOf, type ReleaseOutcome, type Worktree } from './worktree.ts'

/** A worktree that this package has made, in this process or another one. */
export interface WorktreeInfo {
  readonly path: string
  readonly branch?: string
  readonly base: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** Whether the process that made it lives; absent where that cannot be told from here. */
  readonly isOwnerAlive?: boolean
  /** Why it was not removed when it was to be. */
  readonly kept?: string
}

export interface CreateOptions {
  /** Undoes what was begun, and rejects. */
  readonly signal?: AbortSignal | undefined
}

/** Makes, lists and releases worktrees: one after the other in each repository, across processes. */
export class WorktreeCore {
  private readonly options: RepositoryOptions

  constructor(options: RepositoryOptions) {
    this.options = options
  }

  /**
   * Make a worktree. No hook runs. Rejects with nothing left behind: no tree, no branch, no folder.
   *
   * @throws {WorktreeError} `VALIDATION`, `NOT_SUPPORTED`, `TIMEOUT`; the reason of `signal`.
   */
  async create(config: WorktreeConfig, { signal }: CreateOptions = {}): Promise<Worktree> {
    const { repo, path, branch, base = 'HEAD' } = config
    const repository = await Repository.of(repo, this.options, signal)
    return this.locked(repository, async () => {
      const commit = await startOf(repository, repo, base, signal)
      if (branch !== undefined) await checkBranch(repository, branch, signal)
      const stash = await newestStash(repository)
      const prefix = (await repository.runIn(repo, ['rev-parse', '--show-prefix'], signal)).stdout.trimEnd()
      const place = takePlace(repository.base, path)
      const record = newRecord({ path: place.path, prefix, base: commit, stash, ...branch === undefined ? {} : { branch } })
      try {
        writeRecord(repository.recordsDir, record)
        const added = await repository.runIn(repo, worktreeAddArgs({ repo, path: place.path, branch, base: commit }), signal)
        if (added.code !== 0) throw new WorktreeError('NOT_SUPPORTED', `git worktree add failed: ${gitWords(added)}`)
      } catch (error) {
        await undo(repository, record, place)
        throw error
      }
      return this.worktreeOf(repository, record)
    }, signal)
  }

  /** Those of a repository that were made here and are not released, the oldest first; also what a process left that is gone. */
  async list(repo: string): Promise<WorktreeInfo[]> {
    const repository = await Repository.of(repo, this.options)
    const known = new Set((await listEntries(repository)).map(({ path }) => path))
    const records = readRecords(repository.recordsDir)
    for (const record of records) {
      // What a process had begun that is gone by now, and of which nothing came.
      if (!known.has(record.path) && !existsSync(record.path) && isOwnerAlive(record) === false) removeRecord(repository.recordsDir, record.path)
    }
    return records.filter(({ path }) => known.has(path)).sort((a, b) => a.createdAt - b.createdAt).map(record => {
      const { path, branch, base, createdAt, kept } = record
      const alive = isOwnerAlive(record)
      return { path, base, createdAt, ...branch === undefined ? {} : { branch }, ...alive === undefined ? {} : { isOwnerAlive: alive }, ...kept === undefined ? {} : { kept } }
    })
  }

  /**
   * Remove a worktree that was made here, and the branch that was made for it, where nothing would be lost: all is committed, nothing was stashed since, every commit that was ever checked out
   * in it is on another branch, a tag or a remote, and it is neither locked nor in the middle of something. Else it stays, and `list()` says why.
   */
  async release(repo: string, path: string): Promise<ReleaseOutcome> {
    const repository = await Repository.of(repo, this.options)
    return this.locked(repository, async () => {
      const real = realPath(path)
      const record = readRecord(repository.recordsDir, real)
      const entries = await listEntries(repository)
      const entry = entries.find(each => each.path === real)
      if (!record) return { released: false, reason: `${path} was not made here` }
      if (!entry && existsSync(real)) return keep(repository, record, 'git does not know it any more, so what is in it cannot be compared')
      const loss = entry && await lossOf(repository, record, entry)
      if (loss !== undefined) return keep(repository, record, loss)
      if (entry) {
        const removed = await repository.run(['worktree', 'remove', '--', real])
        if (removed.code !== 0) return keep(repository, record, gitWords(removed))
      }
      await removeBranch(repository, record, entries)
      removeRecord(repository.recordsDir, real)
      return { released: true }
    })
  }

  private worktreeOf(repository: Repository, record: WorktreeRecord): Worktree {
    const { path, prefix, branch, base } = record
    const cwd = join(path, prefix)
    return {
      path, base, cwd: existsSync(cwd) ? cwd.replace(/(?<=.)\/$/, '') : path, repo: repository.commonDir, ...branch === undefined ? {} : { branch },
      changes: () => changesOf(repository, record),
      release: () => this.release(repository.commonDir, path),
    }
  }

  private async locked<T>(repository: Repository, act: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const unlock = await lock(repository.lockPath, repository.timeoutMs, signal)
    try {
      return await act()
    } finally {
      unlock()
    }
  }
}

function keep(repository: Repository, record: WorktreeRecord, reason: string): ReleaseOutcome {
  writeRecord(repository.recordsDir, { ...record, kept: reason })
  return { released: false, reason }
}

/** @throws {WorktreeError} `NOT_SUPPORTED` in a repository without a commit; `VALIDATION`. */
async function startOf(repository: Repository, repo: string, base: string, signal: AbortSignal | undefined): Promise<string> {
  const { code, stdout } = await repository.runIn(repo, ['rev-parse', '--quiet', '--verify', '--end-of-options', `${base}^{commit}`], signal)
  if (code === 0) return stdout.trim()
  if (base === 'HEAD') throw new WorktreeError('NOT_SUPPORTED', `the repository of ${repo} has no commit yet, and a worktree needs one; make a first commit`)
  throw new WorktreeError('VALIDATION', `"${base}" names no commit of the repository of ${repo}`)
}

async function checkBranch(repository: Repository, branch: string, signal: AbortSignal | undefined): Promise<void> {
  const ref = `refs/heads/${branch}`
  const isName = !branch.startsWith('-') && (await repository.run(['check-ref-format', ref], signal)).code === 0
  if (!isName) throw new WorktreeError('VALIDATION', `"${branch}" cannot be the name of a branch`)
  const taken = await repository.run(['show-ref', '--verify', '--quiet', ref], signal)
  if (taken.code === 0) throw new WorktreeError('VALIDATION', `the branch "${branch}" exists already; name a new one, or none`)
}

/** As if it had never been asked for, whatever git had done by then. */
async function undo(repository: Repository, record: WorktreeRecord, place: Place): Promise<void> {
  rmSync(place.path, { recursive: true, force: true })
  // Twice: one that is being made is locked.
  await repository.run(['worktree', 'remove', '--force', '--force', '--', place.path]).catch(() => {})
  if (record.branch !== undefined) await repository.run(['update-ref', '-d', `refs/heads/${record.branch}`, record.base]).catch(() => {})
  removeRecord(repository.recordsDir, place.path)
  place.undo()
}

/** The branch goes with the tree where it has nothing of its own, and nobody else has it checked out. */
async function removeBranch(repository: Repository, record: WorktreeRecord, entries: readonly WorktreeEntry[]): Promise<void> {
  const { branch, path } = record
  if (branch === undefined || entries.some(entry => entry.branch === branch && entry.path !== path)) return
  const tip = (await repository.run(['rev-parse', '--quiet', '--verify', `refs/heads/${branch}`])).stdout.trim()
  if (tip === '' || await lostCommit(repository, [tip], record) !== undefined) return
  await repository.run(['update-ref', '-d', `refs/heads/${branch}`, tip])
}

/** As git names it: also of a folder that is gone. */
function realPath(path: string): string {
  if (!isAbsolute(path)) throw new WorktreeError('VALIDATION', `the worktree "${path}" must be an absolute path`)
  return existsSync(path) ? realpathSync(path) : existsSync(dirname(path)) ? `${realpathSync(dirname(path))}${path.slice(dirname(path).length)}` : path
}
