/** What a worktree is made of. */
export interface WorktreeConfig {
  /** Any folder of the repository. */
  readonly repo: string
  /** Absolute, or relative to the folder for worktrees, in which it has to be. Default: a name that nobody has. */
  readonly path?: string | undefined
  /** A new branch to check out. Default: none, the commit alone. */
  readonly branch?: string | undefined
  /** The commit it begins at. Default: `HEAD` of `repo`. */
  readonly base?: string | undefined
}

/** Hooks and monitors are the repository's code, and nobody asked for it to run. */
const quiet = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false'] as const

/**
 * The words that are executed after `git`, to the last one, for a worktree at an absolute `path`: nothing is run. A path or commit that looks like an option
 * is taken for what it is.
 */
export function worktreeAddArgs({ path, branch, base = 'HEAD' }: WorktreeConfig & { readonly path: string }): string[] {
  return [...quiet, 'worktree', 'add', ...branch === undefined ? ['--detach'] : ['-b', branch], '--', path, base]
}
