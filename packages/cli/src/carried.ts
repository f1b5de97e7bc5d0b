import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Script } from 'node:vm'
import { fileURLToPath } from 'node:url'
import type * as command from './main.ts'

const folder = fileURLToPath(new URL('carried/', import.meta.url))

/** The command with all that ships with it, as the build puts it into few files, each with what V8 compiled of it. */
export class Carried {
  private readonly scripts = new Map<string, Script>()
  private readonly loaded = new Map<string, unknown>()

  /** The command; `undefined` where there has been no build. */
  get command(): typeof command | undefined {
    return this.load('offshoot') as typeof command | undefined
  }

  /** Keep what has been compiled so far: the next process of this Node takes it from there. */
  keepCompiled(): void {
    for (const [name, script] of this.scripts) writeFileSync(`${folder}${name}.compiled`, script.createCachedData())
  }

  private load(name: string): unknown {
    if (this.loaded.has(name)) return this.loaded.get(name)
    const filename = `${folder}${name}.cjs`
    const source = read(filename)?.toString('latin1')
    if (source === undefined) return undefined
    // What another version of Node has compiled is not taken by this one, and it compiles anew.
    const cachedData = read(`${folder}${name}.compiled`)
    const script = new Script(`(function (exports, require, module, __filename, _carried, _import) {${source}\n})`, { filename, ...cachedData ? { cachedData } : {} })
    const module = { exports: {} }
    const evaluate = script.runInThisContext() as (...args: unknown[]) => void
    evaluate(module.exports, createRequire(filename), module, filename, (other: string) => this.load(other), (url: string) => import(url))
    this.scripts.set(name, script)
    this.loaded.set(name, module.exports)
    return module.exports
  }
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}
