import * as repository from '../../../tests/git.ts'
import { WorktreeCore } from '../src/index.ts'

export { commit, git, newFolder, write } from '../../../tests/git.ts'

export interface Playground {
  readonly core: WorktreeCore
  readonly repo: string
  /** Where worktrees are made. */
  readonly trees: string
}

/** A repository with one commit, on `main`, and worktrees beside it. */
export function newRepo(files?: Record<string, string>): Playground {
  const { repo, trees } = repository.newRepo(files)
  return { repo, trees, core: new WorktreeCore({ dir: trees, timeoutMs: 20_000 }) }
}
