import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { loadApp } from '../packages/loader/src/index.ts'
import { packages, read, repositoryFiles, root } from './workspace.ts'

const toolPackages = packages.filter(({ id }) => id.startsWith('tool-'))

/** How many tools the sources of a package define. */
function definedIn(dir: string): number {
  return repositoryFiles(`${dir}/src/*.ts`).flatMap(file => [...read(file).matchAll(/\bdefineTool\(\{/g)]).length
}

it('every tool of every package declares what it can do, so that `approvals` judges it for that', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'offshoot-effects-'))
  onTestFinished(() => { rmSync(dir, { recursive: true }) })
  const file = join(dir, 'cordis.yml')
  const brought = packages.find(({ id }) => id === 'runtime')!.manifest.dependencies!
  const loaded = ['@offshoot/runtime', ...toolPackages.map(({ manifest }) => manifest.name).filter(name => !(name in brought))]
  const needed: Record<string, string> = { '@offshoot/tool-subagent': 'provider: spawn', '@offshoot/tool-fanout': 'provider: spawn' }
  writeFileSync(file, loaded.map(name => `- name: '${name}'\n  config: { ${needed[name] ?? ''} }\n`).join(''))
  const app = await loadApp(file, { conditions: ['offshoot-source'], resolveFrom: packages.map(({ dir: own }) => pathToFileURL(join(root, own, 'package.json')).href) })
  onTestFinished(() => app.dispose())
  const tools = [...app.ctx.tools.core.tools.values()]
  expect(tools).toHaveLength(toolPackages.reduce((count, { dir: own }) => count + definedIn(own), 0))
  expect(tools.filter(({ effect }) => effect === undefined).map(({ name }) => name)).toEqual([])
})
