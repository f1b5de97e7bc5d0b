import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { adminDir, type WorktreeEntry, visitedCommits } from './entries.ts'
import { gitWords } from './git.ts'
import type { WorktreeRecord } from './records.ts'
import type { Repository } from './repository.ts'

/** Files of git that say that something was begun and is not over. */
const unfinished = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'BISECT_LOG', 'rebase-merge', 'rebase-apply']
const shownFiles = 3

/** What would be lost with a worktree, in a sentence; `undefined` where nothing would. What it ignores counts as made anew, unless that is a repository. */
export async function lossOf(repository: Repository, record: WorktreeRecord, entry: WorktreeEntry): Promise<string | undefined> {
  const { path } = record
  const admin = adminDir(repository, path)
  if (entry.isLocked) return 'it is locked (git worktree unlock)'
  if (!admin) return 'git keeps nothing of it any more, so what is in it cannot be compared'
  const begun = unfinished.find(name => existsSync(join(admin, name)))
  if (begun !== undefined) return `${begun.replace(/_HEAD|_LOG|-.*/, '').toLowerCase().replace('_', '-')} is not over in it`
  if (existsSync(join(admin, 'modules'))) return 'a submodule was set up in it, whose commits may be nowhere else'
  if (existsSync(path)) {
    const loss = await lossOnDisk(repository, path)
    if (loss !== undefined) return loss
  }
  const stash = await newestStash(repository)
  if (stash !== '' && stash !== record.stash) return 'something was stashed since it was made (git stash list)'
  const lost = await lostCommit(repository, [...visitedCommits(admin), ...entry.head === undefined ? [] : [entry.head]], record)
  return lost === undefined ? undefined : `commit ${lost.slice(0, 10)} is on no other branch, tag or remote`
}

async function lossOnDisk(repository: Repository, path: string): Promise<string | undefined> {
  if (!existsSync(join(path, '.git'))) return 'its .git is gone, so what is in it cannot be compared'
  const status = await repository.runIn(path, ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--ignore-submodules=none', '--no-renames'])
  if (status.code !== 0) return `git cannot tell what is in it: ${gitWords(status)}`
  const files = status.stdout.split('\0').filter(Boolean).map(line => line.slice(3))
  if (files.length > 0) return `${files.length === 1 ? 'a file is' : `${files.length} files are`} not committed: ${files.slice(0, shownFiles).join(', ')}${files.length > shownFiles ? ', …' : ''}`
  // Git does not look into a repository within another one: it names it as a folder.
  const ignored = await repository.runIn(path, ['ls-files', '--others', '--ignored', '--exclude-standard', '-z'])
  const inner = ignored.stdout.split('\0').find(name => name.endsWith('/'))
  return inner === undefined ? undefined : `another repository is in it: ${inner}`
}

export async function newestStash(repository: Repository): Promise<string> {
  return (await repository.run(['rev-parse', '--quiet', '--verify', 'refs/stash'])).stdout.trim()
}

/** The first of `commits` that would be on nothing but the branch that was made for the worktree. */
export async function lostCommit(repository: Repository, commits: readonly string[], { base, branch }: Pick<WorktreeRecord, 'base' | 'branch'>): Promise<string | undefined> {
  const known = commits.filter(commit => !/^0+$/.test(commit))
  if (known.length === 0) return undefined
  const others = ['--not', base, ...branch === undefined ? [] : [`--exclude=${branch}`], '--branches', '--tags', '--remotes']
  const found = await repository.run(['rev-list', '--max-count=1', '--ignore-missing', ...new Set(known), ...others])
  // What git cannot tell is not taken for nothing.
  return found.code === 0 ? found.stdout.trim() || undefined : known.at(-1)
}
