import type { WorktreeChanges } from './worktree.ts'

const shownFiles = 50

/** What a worktree is after somebody worked in it. */
export interface WorktreeReport {
  readonly path: string
  readonly branch?: string | undefined
  /** Absent where git could not tell. */
  readonly changes?: WorktreeChanges | undefined
  /** Whether it was removed. */
  readonly released: boolean
}

/** A worktree as the model reads of it whose child worked there: where, on which branch, and what is new, in a fixed form. */
export function worktreeBlock({ path, branch: made, changes, released }: WorktreeReport): string {
  const branch = changes?.branch ?? made
  const attributes = [`path=${JSON.stringify(path)}`, ...branch === undefined ? [] : [`branch=${JSON.stringify(branch)}`], ...changes ? [`commits="${changes.commits}"`] : []]
  return `<worktree ${attributes.join(' ')}>\n${contentOf(changes?.files, released)}\n</worktree>`
}

function contentOf(files: readonly string[] | undefined, released: boolean): string {
  if (released) return 'Nothing was changed; it was removed.'
  if (!files) return 'What was changed could not be told.'
  if (files.length === 0) return 'Nothing was changed.'
  const more = files.length - shownFiles
  return [...files.slice(0, shownFiles), ...more > 0 ? [`… and ${more} more`] : []].join('\n')
}
