import { existsSync, lstatSync, mkdirSync, realpathSync, rmdirSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { WorktreeError } from './error.ts'

/** A place for a worktree, taken: its parent folders are there, it is not. */
export interface Place {
  readonly path: string
  /** Takes away the folders that were made for it, where they are empty. */
  undo(): void
}

/**
 * Find the place for a worktree inside `base`, which is made where it is not there.
 *
 * @throws {WorktreeError} `VALIDATION` for one outside of it, also by a link, or where something is.
 */
export function takePlace(base: string, path: string | undefined): Place {
  const made = makeFolders(base)
  const root = realpathSync(base)
  try {
    const asked = path === undefined ? join(root, freeName(root)) : resolve(root, path)
    // Absolute paths are given as the caller sees them: the base may be a link.
    const wanted = path !== undefined && isAbsolute(path) && isInside(base, path) ? join(root, relative(base, path)) : asked
    if (!isInside(root, wanted)) throw new WorktreeError('VALIDATION', `worktree path "${path}" leads outside ${root}, where worktrees are made; give a path inside it, or none`)
    // Judged before anything is made: behind a link it would be made elsewhere.
    const there = nearestThere(dirname(wanted))
    const real = join(whereIs(there), relative(there, wanted))
    if (!isInside(root, real)) throw new WorktreeError('VALIDATION', `worktree path "${path}" leads outside ${root} by a symbolic link; give another one`)
    if (isThere(real)) throw new WorktreeError('VALIDATION', `worktree path "${path}" exists already; give another one, or none`)
    made.push(...makeFolders(dirname(real)))
    return { path: real, undo: () => { removeEmpty(made) } }
  } catch (error) {
    removeEmpty(made)
    throw error
  }
}

function freeName(root: string): string {
  for (;;) {
    const name = `tree-${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`
    if (!existsSync(join(root, name))) return name
  }
}

function nearestThere(folder: string): string {
  return isThere(folder) ? folder : nearestThere(dirname(folder))
}

function whereIs(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    throw new WorktreeError('VALIDATION', `${path} is a link that leads nowhere; give another path`, { cause: error })
  }
}

/** Answers those that were not there, the deepest first. */
function makeFolders(folder: string): string[] {
  const missing: string[] = []
  for (let each = folder; !existsSync(each); each = dirname(each)) missing.push(each)
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw new WorktreeError('VALIDATION', `the folder ${folder} for worktrees cannot be made: ${(error as Error).message}`, { cause: error })
  }
  return missing
}

function removeEmpty(folders: readonly string[]): void {
  for (const folder of folders.toSorted((a, b) => b.length - a.length)) {
    try {
      rmdirSync(folder)
    } catch {
      // Somebody else has put something there.
    }
  }
}

function isThere(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch {
    return false
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
