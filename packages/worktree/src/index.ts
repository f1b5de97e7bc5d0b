import { type Context, Service } from 'cordis'
import z from 'schemastery'
import type { WorktreeConfig } from './args.ts'
import { type CreateOptions, WorktreeCore, type WorktreeInfo } from './core.ts'
import type { RepositoryOptions } from './repository.ts'
import type { ReleaseOutcome, Worktree } from './worktree.ts'

export { type WorktreeConfig, worktreeAddArgs } from './args.ts'
export { type CreateOptions, WorktreeCore, type WorktreeInfo } from './core.ts'
export { WorktreeError, type WorktreeErrorCode } from './error.ts'
export { worktreeBlock, type WorktreeReport } from './report.ts'
export type { ReleaseOutcome, Worktree, WorktreeChanges } from './worktree.ts'

declare module 'cordis' {
  interface Context {
    worktrees: WorktreeService
  }
}

/** Git worktrees, each for somebody who works alone in it. */
export class WorktreeService extends Service {
  readonly core: WorktreeCore

  constructor(ctx: Context, config: WorktreeService.Config) {
    super(ctx, 'worktrees')
    this.core = new WorktreeCore(config)
  }

  /**
   * Make a worktree, which stays until it is released. No hook runs. Rejects with nothing left behind.
   *
   * @throws {WorktreeError} `VALIDATION`, `NOT_SUPPORTED`, `TIMEOUT`; the reason of `signal`.
   */
  create(config: WorktreeConfig, options?: CreateOptions): Promise<Worktree> {
    return this.core.create(config, options)
  }

  /** Those of a repository that were made here and are not released, the oldest first; also what a process left that is gone. */
  list(repo: string): Promise<WorktreeInfo[]> {
    return this.core.list(repo)
  }

  /** Remove a worktree that was made here, where nothing would be lost with it. Else it stays, and says why. */
  release(repo: string, path: string): Promise<ReleaseOutcome> {
    return this.core.release(repo, path)
  }
}

export namespace WorktreeService {
  export type Config = RepositoryOptions

  export const Config: z<Partial<Config>, Config> = z.object({
    dir: z.string().description('Where worktrees are made: absolute, or relative to the repository. Default: in the user\'s data folder.'),
    timeoutMs: z.natural().min(1).max(2 ** 31 - 1).default(60_000).description('How long one command of git, or the wait for the repository, may take, in ms.'),
  })
}

export default WorktreeService
