import type { Agent } from '@offshoot/agent'
import { type WorktreeCore, worktreeBlock } from '@offshoot/worktree'

/** A worktree for one child, from before it starts until after it ended. */
export interface Isolation {
  /** Where the child works. */
  readonly cwd: string
  /** To be called once nothing of the child runs: removes the worktree where nothing would be lost, and answers what the model reads of it. */
  end(): Promise<string>
}

/** @throws {WorktreeError}; the reason of `signal`. Nothing is left behind then. */
export async function isolate(worktrees: WorktreeCore, parent: Agent, signal: AbortSignal): Promise<Isolation> {
  const tree = await worktrees.create({ repo: parent.cwd }, { signal })
  return {
    cwd: tree.cwd,
    async end() {
      const changes = await tree.changes().catch(() => undefined)
      const { released } = await tree.release().catch(() => ({ released: false }))
      return worktreeBlock({ path: tree.path, changes, released })
    },
  }
}
