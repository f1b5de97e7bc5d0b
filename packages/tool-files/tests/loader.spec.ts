import { fileURLToPath } from 'node:url'
import type {} from '@offshoot/tools'
import { expect, it } from 'vitest'
import { loadApp } from '@offshoot/loader'

const file = fileURLToPath(new URL('cordis.yml', import.meta.url))

it('loads by its name from a config file, waits for ctx.tools, and follows its config', async () => {
  const app = await loadApp(file, { conditions: ['offshoot-source'] })
  const tools = app.ctx.tools.core
  expect([...tools.tools.keys()].sort()).toEqual(['list_files', 'read_file', 'search_files'])
  await app.dispose()
  expect(tools.tools.size).toBe(0)
})
