import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, relative, resolve as resolvePath, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { nearest } from '@offshoot/problems'
import { moduleResolve } from 'import-meta-resolve'
import { firstLine } from './describe.ts'
import { InstalledPackages } from './packages.ts'

/** A name in the config file that leads to no module. */
export class ResolveError extends Error {
  override readonly name = 'ResolveError'
  /** The module that was probably meant. */
  readonly meant: URL | undefined

  constructor(message: string, meant?: URL) {
    super(message)
    this.meant = meant
  }
}

/** Finds the module behind the `name` of an entry. */
export class Resolver {
  private readonly bases: readonly [URL, ...URL[]]
  private readonly conditions: Set<string>
  private known: InstalledPackages | undefined

  /**
   * @param file the config file: paths are relative to it, and packages are looked for from its folder first
   * @param others where packages are looked for next: file URLs, or paths of files or folders
   * @param conditions export conditions beside the standard ones
   */
  constructor(file: string, others: readonly string[] = [], conditions: readonly string[] = []) {
    this.bases = [pathToFileURL(file), ...others.map(toBase)]
    this.conditions = new Set([...conditions, 'node', 'import'])
  }

  /** The packages within reach; read from disk at the first use. */
  get packages(): InstalledPackages {
    return this.known ??= new InstalledPackages(this.bases)
  }

  /** @throws {ResolveError} in a sentence that says what would have worked */
  resolve(name: string): URL {
    return this.resolveFrom(this.bases, name)
  }

  /** Where a name leads; `undefined` for one that leads nowhere, or to what is no file. */
  find(name: string): URL | undefined {
    return this.findFrom(this.bases, name)
  }

  /** Whether a package is what the places beside the config file's folder have by that name: the app has none of its own, or the same one. */
  isShared(name: string): boolean {
    const [first, ...others] = this.bases
    return !mayHold(folderOf(first), packageOf(name)) || this.find(name)?.href === this.findFrom(others, name)?.href
  }

  private findFrom(bases: readonly URL[], name: string): URL | undefined {
    try {
      const url = this.resolveFrom(bases, name)
      return url.protocol === 'file:' ? url : undefined
    } catch {
      return undefined
    }
  }

  private resolveFrom(bases: readonly URL[], name: string): URL {
    // A failed search costs more than all others: what a look at the disk rules out is not searched.
    for (const base of isPath(name) ? bases.slice(0, 1) : bases.filter(each => mayHold(folderOf(each), packageOf(name)))) {
      try {
        return moduleResolve(name, base, this.conditions)
      } catch (error) {
        if (isPath(name)) throw this.explainPath(name, error as NodeError)
        if (!isMissingPackage(error as NodeError)) throw explainPackage(name, error as NodeError)
      }
    }
    throw this.explainMissing(name)
  }

  private explainMissing(name: string): ResolveError {
    const folder = folderOf(this.bases[0])
    const packageName = packageOf(name)
    if (this.packages.has(packageName)) return new ResolveError(`package "${packageName}" is installed, but has nothing to import; build or reinstall it`)
    const local = existsSync(join(folder, name)) ? `./${name}` : undefined
    const meant = local ? undefined : this.packages.nearest(packageName)
    const wanted = local ?? meant
    return new ResolveError(`package "${packageName}" is not installed; ${
      wanted === undefined ? 'install it in the folder of the config file, or name a local file as "./…"' : `did you mean "${wanted}"?`
    }`, meant === undefined ? undefined : this.find(meant))
  }

  private explainPath(name: string, error: NodeError): ResolveError {
    const path = name.startsWith('file:') ? fileURLToPath(name) : resolvePath(folderOf(this.bases[0]), name)
    const siblings = listFiles(dirname(path))
    const again = (file: string) => name.slice(0, name.lastIndexOf('/') + 1) + file
    if (error.code === 'ERR_UNSUPPORTED_DIR_IMPORT') {
      const index = listFiles(path).find(file => /^index\.[cm]?[jt]s$/.test(file))
      return new ResolveError(`"${name}" is a folder; name a file in it${index ? `, as in "${name.replace(/\/$/, '')}/${index}"` : ''}`)
    }
    if (error.code !== 'ERR_MODULE_NOT_FOUND') return new ResolveError(plain(error))
    const meant = siblings.find(file => file.slice(0, -extname(file).length) === basename(path)) ?? nearest(basename(path), siblings)
    return new ResolveError(`there is no file "${name}"${meant ? `; did you mean "${again(meant)}"?` : '; paths are relative to the config file'}`)
  }
}

/** Whether a name is a file of the app, not a package. */
export function isPath(name: string): boolean {
  return /^(\.{0,2}\/|file:)/.test(name)
}

/** A path as people see it: relative to the working directory when it lies inside. */
export function shorten(path: string): string {
  const inside = relative(process.cwd(), path)
  return inside === '' ? '.' : inside === '..' || inside.startsWith(`..${sep}`) ? path : inside
}

function folderOf(base: URL): string {
  return fileURLToPath(new URL('.', base))
}

function packageOf(name: string): string {
  return name.split('/').slice(0, name.startsWith('@') ? 2 : 1).join('/')
}

/** Whether a package could be found from `folder`: installed there or above, or because one of these folders is a package itself, which may name itself. */
function mayHold(folder: string, packageName: string): boolean {
  return /[:#]/.test(packageName) || existsSync(join(folder, 'node_modules', packageName)) || existsSync(join(folder, 'package.json'))
    || dirname(folder) !== folder && mayHold(dirname(folder), packageName)
}

interface NodeError extends Error {
  readonly code?: string
}

function toBase(place: string): URL {
  if (place.startsWith('file:')) return new URL(place)
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory()
  return pathToFileURL(isFolder ? resolvePath(place) + sep : place)
}

function isMissingPackage({ code, message }: NodeError): boolean {
  return code === 'ERR_MODULE_NOT_FOUND' && message.startsWith('Cannot find package')
}

function explainPackage(name: string, error: NodeError): ResolveError {
  if (error.code === 'ERR_MODULE_NOT_FOUND') {
    const target = /'(.+?)'/.exec(error.message)?.[1]
    return new ResolveError(`package "${name}" is installed, but its file${target ? ` ${shorten(target)}` : ''} is missing; build the package`)
  }
  if (error.code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') {
    return new ResolveError(`"${name}" is not among the exports of its package`)
  }
  return new ResolveError(plain(error))
}

function plain(error: NodeError): string {
  const text = firstLine(error.message).replace(/ imported from .*$/, '')
  return text.charAt(0).toLowerCase() + text.slice(1)
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
