import { fileURLToPath } from 'node:url'
import type {} from '@offshoot/model'
import { afterEach, expect, it, vi } from 'vitest'
import { loadApp } from '@offshoot/loader'
import { EndpointModel } from '../src/index.ts'

const file = fileURLToPath(new URL('cordis.yml', import.meta.url))
const options = { conditions: ['offshoot-source'] }

afterEach(() => { vi.unstubAllEnvs() })

it('loads by its name from a config file, waits for ctx.models, and goes with the app', async () => {
  vi.stubEnv('OFFSHOOT_TEST_URL', 'http://127.0.0.1:1/v1')
  const app = await loadApp(file, options)
  const { models } = app.ctx
  expect(models.get('main')).toBeInstanceOf(EndpointModel)
  await app.dispose()
  expect(models.list()).toEqual([])
})

it('is refused where the environment variable of its endpoint is not set', async () => {
  vi.stubEnv('OFFSHOOT_TEST_URL', undefined)
  await expect(loadApp(file, options)).rejects.toMatchObject({
    problems: [{ message: 'entry "@offshoot/model-ai-sdk" (@offshoot/model-ai-sdk): environment variable OFFSHOOT_TEST_URL is not set; config key "baseURL" needs it (!!js process.env.OFFSHOOT_TEST_URL)' }],
  })
})
