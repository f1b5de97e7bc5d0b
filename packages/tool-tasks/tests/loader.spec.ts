import { fileURLToPath } from 'node:url'
import type {} from '@offshoot/tools'
import { expect, it } from 'vitest'
import { loadApp } from '@offshoot/loader'

const file = fileURLToPath(new URL('cordis.yml', import.meta.url))

it('loads by its name from a config file, waits for ctx.tools and ctx.tasks, follows its config, and goes with the app', async () => {
  const app = await loadApp(file, { conditions: ['offshoot-source'] })
  const tools = app.ctx.tools.core
  expect([...tools.tools.keys()].sort()).toEqual(['task_kill', 'task_list', 'task_output'])
  expect(JSON.stringify(tools.tools.get('task_output')!.spec)).toContain('Default: 30000; at most 30000.')
  await app.dispose()
  expect(tools.tools.size).toBe(0)
})
