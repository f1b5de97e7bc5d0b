import { loadApp } from '@offshoot/loader'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type {} from '../src/index.ts'
import { newRepo } from './support.ts'

const file = fileURLToPath(new URL('cordis.yml', import.meta.url))

it('loads by its name from a config file; a folder for worktrees may be relative to the repository, and what it made outlives the app', async () => {
  const { repo } = newRepo({ '.gitignore': '.trees' })
  const app = await loadApp(file, { conditions: ['offshoot-source'] })
  const tree = await app.ctx.worktrees.create({ repo, path: 'one' })
  expect(tree.path).toBe(`${repo}/.trees/one`)
  await app.dispose()
  const again = await loadApp(file, { conditions: ['offshoot-source'] })
  expect(await again.ctx.worktrees.list(repo)).toMatchObject([{ path: tree.path, isOwnerAlive: true }])
  expect(await again.ctx.worktrees.release(repo, tree.path)).toEqual({ released: true })
  await again.dispose()
})
