import { writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect } from 'vitest'
import { type App, AppError, type AppErrorCode } from '../src/index.ts'
import { load, shared } from './support.ts'

/** A plugin that notes each start and end with the `mark` of its config; it refuses to start with `broken`. */
export const marking = (log: string) => `
  import z from 'schemastery'
  export const Config = z.object({ mark: z.string(), broken: z.boolean() })
  export function apply(ctx, { mark, broken }) {
    globalThis['${log}'].push('+' + mark)
    ctx.effect(() => () => { globalThis['${log}'].push('-' + mark) })
    if (broken) throw new Error(mark + ' broke')
  }
`

export function write(app: App, yml: string): void {
  writeFileSync(app.file, yml)
}

/** The lines that a reload is refused with. */
export async function refusal(app: App, yml: string, code: AppErrorCode = 'INVALID'): Promise<string[]> {
  write(app, yml)
  const error: unknown = await app.reload().catch((reason: unknown) => reason)
  if (!(error instanceof AppError)) throw new Error('the reload was not refused', { cause: error })
  expect(error.code).toBe(code)
  return error.message.replaceAll(`${dirname(app.file)}/`, '').split('\n')
}

/** An app of marking plugins that runs, with what they noted since then. */
export async function marked(yml: string, files: Record<string, string> = {}): Promise<{ app: App, name: string, list: unknown[] }> {
  const { name, list } = shared()
  const app = await load({ 'cordis.yml': yml, 'a.mjs': marking(name), ...Object.fromEntries(Object.entries(files).map(([file, text]) => [file, text.replaceAll('LOG', `globalThis['${name}']`)])) })
  list.length = 0
  return { app, name, list }
}

export const three = (b = 'b') => `- { id: a, name: ./a.mjs, config: { mark: a } }\n- { id: b, name: ./a.mjs, config: { mark: ${b} } }\n- { id: c, name: ./a.mjs, config: { mark: c } }\n`
