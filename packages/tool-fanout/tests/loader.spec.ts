import { loadApp } from '@offshoot/loader'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import type {} from '../src/index.ts'

const file = fileURLToPath(new URL('cordis.yml', import.meta.url))

it('loads by its name from a config file, and goes with the app', async () => {
  const app = await loadApp(file, { conditions: ['offshoot-source'] })
  const tools = app.ctx.tools.core
  expect([...tools.tools.keys()].sort()).toEqual(['collect_subagent', 'spawn_subagent', 'task_kill', 'task_list', 'task_output'])
  expect(app.ctx.fanout.maxPending).toBe(8)
  await app.dispose()
  expect(tools.tools.size).toBe(0)
})

it('comes twice in one file, with names of its own for the second one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offshoot-fanout-'))
  onTestFinished(() => { rmSync(folder, { recursive: true }) })
  writeFileSync(join(folder, 'cordis.yml'), `- name: '@offshoot/runtime'
- name: '@offshoot/tool-fanout'
  config: { provider: spawn, maxPending: 8 }
- name: '@offshoot/tool-fanout'
  config: { provider: fork, spawnToolName: spawn_fork, collectToolName: collect_fork, maxPending: 9 }
`)
  const app = await loadApp(join(folder, 'cordis.yml'), { conditions: ['offshoot-source'], resolveFrom: [import.meta.url] })
  expect(app.ctx.tools.list()).toEqual(expect.arrayContaining(['collect_fork', 'collect_subagent', 'spawn_fork', 'spawn_subagent']))
  expect(app.ctx.fanout.maxPending).toBe(8)
  await app.dispose()
})

it('a cap of zero, and a provider that nobody registers, are told with their place', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offshoot-fanout-'))
  onTestFinished(() => { rmSync(folder, { recursive: true }) })
  const load = (config: string) => {
    writeFileSync(join(folder, 'cordis.yml'), `- name: '@offshoot/runtime'\n- name: '@offshoot/tool-fanout'\n  config: ${config}\n`)
    return loadApp(join(folder, 'cordis.yml'), { conditions: ['offshoot-source'], resolveFrom: [import.meta.url] })
  }
  await expect(load('{ provider: spawn, maxPending: 0 }')).rejects.toThrow(/cordis\.yml:2:3: .*maxPending/)
  await expect(load('{ provider: spwan }')).rejects.toThrow(/wait for subagent provider "spwan", which nobody registers.*spawn/)
})
