import { fileURLToPath } from 'node:url'
import type {} from '@offshoot/subagent'
import { expect, it } from 'vitest'
import { loadApp } from '@offshoot/loader'

const file = fileURLToPath(new URL('cordis.yml', import.meta.url))
// The services that the provider stands on are what the runtime mounts.
const resolveFrom = [new URL('../../runtime/package.json', import.meta.url).href]

it('loads by its name from a config file, before what it waits for, and goes with the app', async () => {
  const app = await loadApp(file, { resolveFrom, conditions: ['offshoot-source'] })
  const { core } = app.ctx.subagents
  expect(core.list().sort()).toEqual(['helper', 'spawn'])
  await app.dispose()
  expect(core.list()).toEqual([])
})
