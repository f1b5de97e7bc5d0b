import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { refusal } from './support.ts'

/** Plugins that each config of a table may name. */
export const plugins = {
  'tool.mjs': readFileSync(new URL('fixtures/tool.mjs', import.meta.url), 'utf8'),
  'tagged.mjs': readFileSync(new URL('fixtures/tagged.mjs', import.meta.url), 'utf8'),
  'quiet.mjs': 'export function apply() {}',
}

/** How an unknown entry key ends its line. */
export const entryKeys = '(entry keys: collapsed, config, disabled, group, id, inject, intercept, isolate, label, name)'

export interface Broken {
  readonly is: string
  readonly yml: string
  readonly files?: Record<string, string>
  readonly lines: readonly string[]
}

/** Asserts every line that a config is refused with. */
export async function expectRefusal({ yml, files, lines }: Broken): Promise<void> {
  const refused = await refusal({ 'cordis.yml': yml, ...plugins, ...files }, { conditions: ['offshoot-source'] })
  expect(refused).toEqual(lines)
}
