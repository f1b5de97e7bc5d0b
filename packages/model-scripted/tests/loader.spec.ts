import { fileURLToPath } from 'node:url'
import type {} from '@offshoot/model'
import { expect, it } from 'vitest'
import { loadApp } from '@offshoot/loader'
import { ScriptedModel } from '../src/index.ts'

const file = fileURLToPath(new URL('cordis.yml', import.meta.url))

it('loads by its name from a config file, waits for ctx.models, and goes with the app', async () => {
  const app = await loadApp(file, { conditions: ['offshoot-source'] })
  const { models } = app.ctx
  expect(models.list().sort()).toEqual(['cheap', 'main'])
  expect(models.get('cheap')).toBeInstanceOf(ScriptedModel)
  await app.dispose()
  expect(models.list()).toEqual([])
})
