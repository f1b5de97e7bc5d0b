import { fileURLToPath } from 'node:url'
import type {} from '@offshoot/agent'
import { loadApp } from '@offshoot/loader'
import { fakeModel } from '@offshoot/model/testing'
import type {} from '@offshoot/subagent'
import { expect, it } from 'vitest'
import * as fork from '../src/index.ts'

const file = fileURLToPath(new URL('cordis.yml', import.meta.url))

it('loads by its name from a config file, before what it waits for, starts children, and goes with the app', async () => {
  const app = await loadApp(file, { conditions: ['offshoot-source'] })
  const { core } = app.ctx.subagents
  expect(core.list().sort()).toEqual(['branch', 'fork'])
  expect(core.getProvider('fork')).toMatchObject({ inheritsParentContext: true })
  expect(core.getProvider('fork')?.toolWording).toBeUndefined()
  expect(core.getProvider('branch')?.toolWording?.description).toMatch(/INHERITS/)
  app.ctx.models.register('main', fakeModel(() => 'ok'))
  const run = await core.start('branch', { prompt: 'Go.', parent: app.ctx.agents.create(), signal: new AbortController().signal })
  expect((await run.result).stopReason).toBe('completed')
  await app.dispose()
  expect(core.list()).toEqual([])
})

it('has no default export, which would hide `inject` and `Config` from the loader', () => {
  expect(fork).not.toHaveProperty('default')
})
