import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { type App, AppError, loadApp, type LoadOptions } from '../src/index.ts'

/** The packages that a config file next to this one could name. */
export const installed = fileURLToPath(new URL('../node_modules', import.meta.url))

/** Writes an app into a folder of its own, which can name what this package can, and is removed after the test. */
export function writeApp(files: Record<string, string>, packages: string | null = installed): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'offshoot-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  if (packages) symlinkSync(packages, join(folder, 'node_modules'))
  return folder
}

/** Loads `cordis.yml` of an app, and disposes it after the test. */
export async function load(files: Record<string, string>, options: LoadOptions = {}): Promise<App> {
  const app = await loadApp(join(writeApp(files), 'cordis.yml'), { log: () => {}, ...options })
  onTestFinished(() => app.dispose())
  return app
}

/** The lines that a broken app is refused with, without the folder. */
export async function refusal(files: Record<string, string>, options: LoadOptions = {}): Promise<string[]> {
  const folder = writeApp(files)
  const file = join(folder, 'cordis.yml' in files ? 'cordis.yml' : Object.keys(files)[0]!)
  const error: unknown = await loadApp(file, { log: () => {}, ...options }).then(app => app.dispose(), (reason: unknown) => reason)
  if (!(error instanceof AppError)) throw new Error('the app was not refused', { cause: error })
  return error.message.replaceAll(`${folder}/`, '').split('\n')
}

/** A plugin module that notes what happens to it in `globalThis[log]`. */
export function noting(log: string, name: string): string {
  return `
    export const name = '${name}'
    export function apply(ctx) {
      globalThis['${log}'].push('+${name}')
      ctx.effect(() => () => { globalThis['${log}'].push('-${name}') })
    }
  `
}

/** A list that the modules of one test can reach under a name of its own. */
export function shared(): { name: string, list: unknown[] } {
  const name = `offshoot-test-${Math.random().toString(36).slice(2)}`
  const list: unknown[] = []
  Object.assign(globalThis, { [name]: list })
  onTestFinished(() => { delete (globalThis as Record<string, unknown>)[name] })
  return { name, list }
}
