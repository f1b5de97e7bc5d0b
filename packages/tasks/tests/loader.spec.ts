import { fileURLToPath } from 'node:url'
import { loadApp } from '@offshoot/loader'
import { fakeModel } from '@offshoot/model/testing'
import { expect, it } from 'vitest'
import TaskService, * as tasks from '../src/index.ts'
import { startJob } from './support.ts'

const file = fileURLToPath(new URL('cordis.yml', import.meta.url))

it('loads by its name from a config file, before what it waits for, and goes with the app and its tasks', async () => {
  const app = await loadApp(file, { conditions: ['offshoot-source'] })
  const { core } = app.ctx.tasks
  expect(core.limits).toEqual({ maxRunningPerOwner: 1, stopGraceMs: 500, inlineBytes: 4096 })
  app.ctx.models.register('main', fakeModel(() => 'ok'))
  const owner = app.ctx.agents.create()
  const { task } = startJob(app.ctx, owner)
  expect(() => startJob(app.ctx, owner)).toThrow(expect.objectContaining({ code: 'OWNER_LIMIT' }))
  await app.dispose()
  expect(task.status).toBe('killed')
})

it('is its default export, as a service is', () => {
  expect(tasks.default).toBe(TaskService)
  expect(TaskService.inject).toEqual(['agents'])
})
