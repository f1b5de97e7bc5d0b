import type { WorktreeRecord } from './records.ts'
import type { Repository } from './repository.ts'

/** What was changed in a worktree since it was made. */
export interface WorktreeChanges {
  /** What is checked out now; absent where that is a commit alone. */
  readonly branch?: string
  /** Commits since the one that it began at. */
  readonly commits: number
  /** Files that differ from then, committed or not, new ones too; sorted, relative to the worktree. */
  readonly files: readonly string[]
}

export type ReleaseOutcome =
  | { readonly released: true }
  /** It is there as it was. `reason`: what would have been lost, in a sentence. */
  | { readonly released: false, readonly reason: string }

/** A worktree that was made for somebody. It stays until it is released. */
export interface Worktree {
  readonly path: string
  /** In it, the folder that it was made from: `path` itself, or as far below it, where the commit has that folder. */
  readonly cwd: string
  /** What all worktrees of its repository share: its git directory. */
  readonly repo: string
  /** The branch that was made for it. */
  readonly branch?: string
  /** The commit that it began at. */
  readonly base: string
  changes(): Promise<WorktreeChanges>
  /** Remove it where nothing would be lost with it: see `WorktreeCore.release()`. */
  release(): Promise<ReleaseOutcome>
}

export async function changesOf(repository: Repository, { path, base }: Pick<WorktreeRecord, 'path' | 'base'>): Promise<WorktreeChanges> {
  const [branch, count, differing, added] = await Promise.all([
    repository.runIn(path, ['symbolic-ref', '--quiet', '--short', 'HEAD']),
    repository.runIn(path, ['rev-list', '--count', `${base}..HEAD`]),
    repository.runIn(path, ['diff', '--name-only', '--no-renames', '--no-ext-diff', '-z', base]),
    repository.runIn(path, ['ls-files', '--others', '--exclude-standard', '-z']),
  ])
  const files = [...new Set(`${differing.stdout}${added.stdout}`.split('\0').filter(Boolean))].sort()
  return { ...branch.code === 0 ? { branch: branch.stdout.trim() } : {}, commits: Number(count.stdout.trim()) || 0, files }
}
