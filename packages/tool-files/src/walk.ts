import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import picomatch from 'picomatch'
import { FileError, systemCode } from './error.ts'
import { guarded } from './guard.ts'

export interface WalkOptions {
  /** Names of folders that are not entered. */
  readonly ignore: readonly string[]
  /** A glob relative to the folder; without a `/` it goes for file names in every folder. */
  readonly glob?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Found {
  /** Relative to the folder, with `/`. */
  readonly path: string
  readonly isLink: boolean
}

interface Entry extends Found {
  readonly isFolder: boolean
}

/** The files and links below `folder`, sorted by path. Links are not followed; a folder that cannot be read is passed over. */
export async function* walk(folder: string, { ignore, glob, signal }: WalkOptions): AsyncGenerator<Found> {
  const select = glob === undefined ? (entries: Entry[]) => entries : globSelector(glob)
  const stack: Entry[] = [{ path: '', isFolder: true, isLink: false }]
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    if (!entry.isFolder) {
      yield entry
      continue
    }
    signal?.throwIfAborted()
    const entries = await readFolder(folder, entry.path, ignore)
    const files = select(entries.filter(each => !each.isFolder))
    stack.push(...[...files, ...entries.filter(each => each.isFolder)].sort(byPath).reverse())
  }
}

/** What a tool's description says of the folders that are not entered. */
export function leftOut(ignore: readonly string[]): string {
  return ignore.length === 0 ? '' : ` Leaves out folders named ${ignore.join(', ')}.`
}

async function readFolder(start: string, path: string, ignore: readonly string[]): Promise<Entry[]> {
  try {
    const entries = await readdir(join(start, path), { withFileTypes: true })
    return entries.flatMap(entry => {
      const isFolder = entry.isDirectory()
      if (isFolder ? ignore.includes(entry.name) : !entry.isFile() && !entry.isSymbolicLink()) return []
      return [{ path: path === '' ? entry.name : `${path}/${entry.name}`, isFolder, isLink: entry.isSymbolicLink() }]
    })
  } catch (error) {
    // It may have gone meanwhile, and some are not ours to read.
    if (path !== '' && systemCode(error) !== undefined) return []
    throw error
  }
}

function globSelector(glob: string): (entries: Entry[]) => Entry[] {
  const matches = compile(glob)
  return entries => entries.length === 0 ? entries : guarded(glob, () => entries.filter(entry => matches(entry.path)))
}

function compile(glob: string): (path: string) => boolean {
  try {
    return picomatch(glob.replace(/^(\.?\/)+/, ''), { dot: true, basename: !glob.includes('/'), nonegate: true })
  } catch (error) {
    throw new FileError('INVALID_ARGUMENT', `"${glob}" is not a glob pattern: ${(error as Error).message}`, { cause: error })
  }
}

// A folder sorts as the paths in it do, so that the walk is sorted as a whole.
function byPath(a: Entry, b: Entry): number {
  return sortKey(a) < sortKey(b) ? -1 : 1
}

function sortKey({ path, isFolder }: Entry): string {
  return isFolder ? `${path}/` : path
}
