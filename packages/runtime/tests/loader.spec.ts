import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { loadApp } from '@offshoot/loader'
import type {} from '../src/index.ts'

const file = fileURLToPath(new URL('cordis.yml', import.meta.url))

it('loads by its name from a config file, with all that delegation needs, and goes with the app', async () => {
  const app = await loadApp(file, { conditions: ['offshoot-source'] })
  const { ctx } = app
  const present = () => ['sessions', 'models', 'tools', 'agents', 'tasks', 'subagents'].filter(service => ctx.get(service) !== undefined)
  expect(present()).toHaveLength(6)
  expect(ctx.subagents.list().sort()).toEqual(['branch', 'helper'])
  await app.dispose()
  expect(present()).toEqual([])
})
