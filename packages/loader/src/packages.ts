import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nearest } from '@offshoot/problems'

export interface Manifest {
  readonly name?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly cordis?: { readonly service?: { readonly implements?: readonly string[] } }
}

/** The packages that can be named in a config file: what the `node_modules` folders above some places hold. */
export class InstalledPackages {
  private readonly folders: ReadonlyMap<string, string>

  constructor(bases: readonly URL[]) {
    const roots = bases.flatMap(base => ancestors(resolve(fileURLToPath(new URL('.', base))))).map(folder => join(folder, 'node_modules'))
    this.folders = new Map([...new Set(roots)].flatMap(packagesIn).reverse())
  }

  has(name: string): boolean {
    return this.folders.has(name)
  }

  /** The package that `name` was most likely meant to be. */
  nearest(name: string): string | undefined {
    const names = [...this.folders.keys()]
    const [scope, bare] = split(name)
    if (!scope) {
      const scoped = names.filter(known => split(known)[1] === bare)
      return scoped.length === 1 ? scoped[0] : nearest(name, names.filter(known => !split(known)[0]))
    }
    const scopes = new Set(names.map(known => split(known)[0]).filter(Boolean))
    const meant = scopes.has(scope) ? scope : nearest(scope, scopes)
    const found = meant && nearest(bare, names.flatMap(known => split(known)[0] === meant ? [split(known)[1]] : []))
    return found && `${meant}/${found}`
  }

  /** The packages that say they provide a service. */
  providersOf(service: string): string[] {
    return [...this.folders.keys()].filter(name => this.services(name).includes(service)).sort()
  }

  /** What a package says it provides. */
  services(name: string): readonly string[] {
    const folder = this.folders.get(name)
    return folder === undefined ? [] : servicesOf(readManifest(folder))
  }
}

export function servicesOf(manifest: Manifest | undefined): readonly string[] {
  return manifest?.cordis?.service?.implements ?? []
}

/** The manifest of the package that a module belongs to. */
export function manifestOf(module: URL): Manifest | undefined {
  return ancestors(dirname(fileURLToPath(module))).map(readManifest).find(manifest => manifest?.name !== undefined)
}

function readManifest(folder: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  } catch {
    return undefined
  }
}

function packagesIn(root: string): [name: string, folder: string][] {
  return list(root).flatMap((name): [string, string][] => name.startsWith('@')
    ? list(join(root, name)).map(bare => [`${name}/${bare}`, join(root, name, bare)])
    : [[name, join(root, name)]])
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder).filter(name => !name.startsWith('.'))
  } catch {
    return []
  }
}

function ancestors(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...ancestors(parent)]
}

function split(name: string): [scope: string, bare: string] {
  const slash = name.startsWith('@') ? name.indexOf('/') : -1
  return [name.slice(0, Math.max(slash, 0)), name.slice(slash + 1)]
}
