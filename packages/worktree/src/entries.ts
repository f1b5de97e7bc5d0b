import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Repository } from './repository.ts'

/** A worktree, as git lists it. */
export interface WorktreeEntry {
  readonly path: string
  /** Absent where there is no commit yet. */
  readonly head?: string
  /** Absent where a commit alone is checked out. */
  readonly branch?: string
  readonly isLocked: boolean
}

/** All worktrees of a repository, the main one first. */
export async function listEntries(repository: Repository, signal?: AbortSignal): Promise<WorktreeEntry[]> {
  const { stdout } = await repository.run(['worktree', 'list', '--porcelain', '-z'], signal)
  return stdout.split('\0\0').filter(text => text !== '').map(text => {
    const fields = new Map(text.split('\0').map(line => {
      const space = line.indexOf(' ')
      return space < 0 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)]
    }))
    const [head, branch] = [fields.get('HEAD'), fields.get('branch')]
    return {
      path: fields.get('worktree') ?? '',
      ...head === undefined ? {} : { head },
      ...branch === undefined ? {} : { branch: branch.replace(/^refs\/heads\//, '') },
      isLocked: fields.has('locked'),
    }
  })
}

/** Where git keeps what belongs to one worktree alone; `undefined` where it keeps nothing of it. */
export function adminDir({ commonDir }: Repository, path: string): string | undefined {
  const all = join(commonDir, 'worktrees')
  if (!existsSync(all)) return undefined
  return readdirSync(all).map(name => join(all, name)).find(dir => dirname(textOf(join(dir, 'gitdir')).trim()) === path)
}

/** Every commit that was checked out in it, the newest last. */
export function visitedCommits(admin: string): string[] {
  return textOf(join(admin, 'logs', 'HEAD')).split('\n').flatMap(line => /^[0-9a-f]+ ([0-9a-f]+) /.exec(line)?.[1] ?? [])
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
