import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { members, root } from '../scripts/workspace.mjs'

export { root } from '../scripts/workspace.mjs'

type Versions = Readonly<Record<string, string>>

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly private?: boolean
  readonly type?: string
  readonly license?: string
  readonly main?: string
  readonly types?: string
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly files?: readonly string[]
  readonly engines?: Versions
  readonly scripts?: Readonly<Record<string, string>>
  readonly cordis?: { readonly service?: { readonly implements?: readonly string[] } }
  readonly dependencies?: Versions
  readonly devDependencies?: Versions
  readonly peerDependencies?: Versions
}

export interface Member {
  /** `agent`, for `packages/agent`. */
  readonly id: string
  /** Relative to the checkout. */
  readonly dir: string
  readonly manifest: Manifest
}

/** What the file holds, from its path relative to the checkout. */
export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

export function readJson(path: string): unknown {
  return JSON.parse(read(path))
}

function readManifest(dir: string): Manifest {
  return readJson(join(dir, 'package.json')) as Manifest
}

/** The folders that a tsconfig references, as they are written there. */
export function referencesOf(tsconfig: string): string[] {
  const { references = [] } = readJson(tsconfig) as { references?: { path: string }[] }
  return references.map(({ path }) => path)
}

export function exists(path: string): boolean {
  return existsSync(join(root, path))
}

export const rootManifest = readManifest('.') as Manifest & { readonly packageManager: string }

const workspace: readonly Member[] = members().map(dir => ({ id: basename(dir), dir, manifest: readManifest(dir) }))

export const packages = workspace.filter(({ dir }) => dir.startsWith('packages/'))
export const examples = workspace.filter(({ dir }) => dir.startsWith('examples/'))

export function isOffshoot(name: string): boolean {
  return name.startsWith('@offshoot/')
}

/** The ids of the workspace packages among these dependencies. */
export function offshootIds(versions: Versions = {}): string[] {
  return Object.keys(versions).filter(isOffshoot).map(name => basename(name)).sort()
}

/** The files that belong to the repository, committed yet or not. */
export function repositoryFiles(...patterns: string[]): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...patterns], { cwd: root, encoding: 'utf8' })
  return listed.split('\n').filter(file => file !== '' && exists(file))
}

/** The packages that a source file imports, each once: by `import`, `export … from` or `import()`. */
export function importsOf(source: string): string[] {
  const specifiers = Array.from(source.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^'.][^']*)'/g), match => match[1]!)
  return [...new Set(specifiers.map(specifier => specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/')))]
}
