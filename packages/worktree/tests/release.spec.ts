import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Worktree } from '../src/index.ts'
import { commit, git, newRepo, type Playground, write } from './support.ts'

type Prepare = (tree: Worktree, playground: Playground) => unknown

/** What may be in a worktree, and whether it may go. */
const kept: readonly (readonly [what: string, reason: RegExp, prepare: Prepare])[] = [
  ['a change', /a file is not committed: a\.txt/, ({ path }) => { write(path, { 'a.txt': 'other' }) }],
  ['a staged change', /not committed/, ({ path }) => { write(path, { 'a.txt': 'other' }); git(path, 'add', '.') }],
  ['a deletion', /not committed: a\.txt/, ({ path }) => { rmSync(join(path, 'a.txt')) }],
  ['new files alone', /5 files are not committed: 0, 1, 2, …/, ({ path }) => { write(path, Object.fromEntries([0, 1, 2, 3, 4].map(n => [`${n}`, '']))) }],
  ['a stash', /something was stashed/, ({ path }) => { write(path, { 'a.txt': 'other' }); git(path, 'stash') }],
  ['a commit of its own', /commit [0-9a-f]{10} is on no other branch/, ({ path }) => { commit(path, { 'b.txt': '' }) }],
  ['a commit that was undone again', /is on no other branch/, ({ path, base }) => { commit(path, { 'b.txt': '' }); git(path, 'reset', '--quiet', '--hard', base) }],
  ['a merge that is not over', /merge is not over|not committed/, ({ path, base }) => {
    git(path, 'branch', 'left')
    commit(path, { 'a.txt': 'right' })
    git(path, 'push', '--quiet', '.', 'HEAD:refs/heads/right')
    git(path, 'checkout', '--quiet', '-B', 'left', base)
    commit(path, { 'a.txt': 'left' })
    try { git(path, 'merge', 'right') } catch { git(path, 'checkout', '--quiet', '--ours', '.') }
  }],
  ['a lock', /it is locked/, ({ path }, { repo }) => { git(repo, 'worktree', 'lock', path) }],
  ['another repository', /another repository is in it: inner\/|not committed: inner\//, ({ path }) => { mkdirSync(join(path, 'inner')); git(join(path, 'inner'), 'init', '--quiet'); commit(join(path, 'inner'), { x: '' }) }],
  ['another repository that is ignored', /another repository is in it: out\/inner\//, ({ path }) => { mkdirSync(join(path, 'out', 'inner'), { recursive: true }); git(join(path, 'out', 'inner'), 'init', '--quiet'); commit(join(path, 'out', 'inner'), { x: '' }) }],
  ['a submodule that was set up', /a submodule was set up/, ({ path }) => { const inner = newRepo(); git(path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.repo, 'sub'); commit(path, {}); git(path, 'push', '--quiet', '.', 'HEAD:refs/heads/elsewhere') }],
  ['no .git any more', /its \.git is gone/, ({ path }) => { rmSync(join(path, '.git')) }],
]

const released: readonly (readonly [what: string, prepare: Prepare])[] = [
  ['nothing new', () => {}],
  ['ignored files', ({ path }) => { write(path, { 'out/x': '' }) }],
  ['a commit that another branch has', ({ path }) => { commit(path, { 'b.txt': '' }); git(path, 'push', '--quiet', '.', 'HEAD:refs/heads/elsewhere') }],
  ['a commit that a remote has', ({ path }, { repo }) => {
    git(repo, 'clone', '--quiet', '--bare', repo, `${repo}.git`)
    git(repo, 'remote', 'add', 'origin', `${repo}.git`)
    commit(path, { 'b.txt': '' })
    git(path, 'push', '--quiet', 'origin', 'HEAD:refs/heads/elsewhere')
  }],
  ['no folder any more', ({ path }) => { rmSync(path, { recursive: true }) }],
]

describe.each([['a branch', 'topic'], ['a commit alone', undefined]])('a worktree of %s', (_, branch) => {
  it.each(kept)('with %s is kept, as it is, and it is said why', async (_what, reason, prepare) => {
    const playground = newRepo({ 'a.txt': 'a', '.gitignore': 'out' })
    const { core, repo } = playground
    const tree = await core.create({ repo, branch })
    prepare(tree, playground)
    const before = existsSync(join(tree.path, '.git')) ? git(tree.path, 'status', '--porcelain') : ''
    const outcome = await tree.release()
    expect(outcome).toEqual({ released: false, reason: expect.stringMatching(reason) })
    expect(existsSync(tree.path)).toBe(true)
    expect(existsSync(join(tree.path, '.git')) ? git(tree.path, 'status', '--porcelain') : '').toBe(before)
    expect(await core.list(repo)).toMatchObject([{ path: tree.path, kept: (outcome as { reason: string }).reason }])
    if (branch !== undefined) expect(git(repo, 'branch', '--list', branch)).not.toBe('')
  })

  it.each(released)('with %s goes, and its branch with it', async (_what, prepare) => {
    const playground = newRepo({ 'a.txt': 'a', '.gitignore': 'out' })
    const { core, repo } = playground
    const tree = await core.create({ repo, branch })
    prepare(tree, playground)
    expect(await tree.release()).toEqual({ released: true })
    expect(existsSync(tree.path)).toBe(false)
    expect(git(repo, 'worktree', 'list', '--porcelain')).not.toContain(tree.path)
    expect(git(repo, 'branch', '--list', 'topic')).toBe('')
    expect(await core.list(repo)).toEqual([])
  })
})

it('a commit of a worktree whose folder is gone is not lost with the rest of it', async () => {
  const { core, repo } = newRepo()
  const tree = await core.create({ repo })
  const lost = commit(tree.path, { 'b.txt': '' })
  rmSync(tree.path, { recursive: true })
  expect(await tree.release()).toEqual({ released: false, reason: expect.stringContaining(lost.slice(0, 10)) })
  expect(git(repo, 'worktree', 'list', '--porcelain')).toContain(lost)
})

it('a worktree that somebody else made is not released', async () => {
  const { core, repo } = newRepo()
  git(repo, 'worktree', 'add', '--quiet', '--detach', `${repo}-own`)
  expect(await core.release(repo, `${repo}-own`)).toEqual({ released: false, reason: `${repo}-own was not made here` })
  expect(existsSync(`${repo}-own`)).toBe(true)
})

it('a branch that was given commits while another one was checked out stays', async () => {
  const { core, repo } = newRepo()
  const tree = await core.create({ repo, branch: 'topic' })
  const own = commit(tree.path, { 'b.txt': '' })
  git(tree.path, 'push', '--quiet', '.', 'HEAD:refs/tags/kept')
  git(tree.path, 'checkout', '--quiet', '--detach', tree.base)
  git(repo, 'tag', '-d', 'kept')
  git(repo, 'branch', 'elsewhere', own)
  expect(await tree.release()).toEqual({ released: true })
  expect(git(repo, 'rev-parse', 'elsewhere')).toBe(own)
})
