import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { WorktreeCore, worktreeAddArgs } from '../src/index.ts'
import { commit, git, newFolder, newRepo, type Playground, write } from './support.ts'

/** What is there of worktrees and branches. */
function left({ repo, trees }: Playground): unknown {
  const found = git(repo, 'for-each-ref', '--format=%(refname)', 'refs/heads')
  return { branches: found, worktrees: git(repo, 'worktree', 'list', '--porcelain').split('\n\n').length, trees: existsSync(trees), lock: existsSync(join(repo, '.git', 'offshoot-worktrees.lock')) }
}

const nothing = { branches: 'refs/heads/main', worktrees: 1, trees: false, lock: false }

describe('a worktree', () => {
  it('is a checkout of its own: a commit alone, under a name that nobody has', async () => {
    const { core, repo, trees } = newRepo()
    const tree = await core.create({ repo })
    expect(tree.path.startsWith(`${trees}/tree-`)).toBe(true)
    expect(readFileSync(join(tree.path, 'a.txt'), 'utf8')).toBe('a')
    expect(git(tree.path, 'branch', '--show-current')).toBe('')
    expect(tree).toMatchObject({ base: git(repo, 'rev-parse', 'HEAD'), repo: join(repo, '.git') })
    expect(git(repo, 'status', '--porcelain')).toBe('')
  })

  it('has a branch and a path where those are named, from the commit that is named', async () => {
    const { core, repo, trees } = newRepo()
    const first = git(repo, 'rev-parse', 'HEAD')
    commit(repo, { 'b.txt': 'b' })
    const tree = await core.create({ repo, path: 'deep/er', branch: 'topic/one', base: first })
    expect(tree).toMatchObject({ path: join(trees, 'deep', 'er'), branch: 'topic/one', base: first })
    expect(git(tree.path, 'branch', '--show-current')).toBe('topic/one')
    expect(existsSync(join(tree.path, 'b.txt'))).toBe(false)
  })

  it('says what was changed in it: commits, and files that differ, committed or not, new ones too', async () => {
    const { core, repo } = newRepo({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c', '.gitignore': 'out' })
    const tree = await core.create({ repo, branch: 'topic' })
    expect(await tree.changes()).toEqual({ branch: 'topic', commits: 0, files: [] })
    commit(tree.path, { 'a.txt': 'other' })
    write(tree.path, { 'b.txt': 'other', 'c.txt': 'c', 'new/ü n.txt': '', 'out/ignored': '' })
    git(tree.path, 'add', 'b.txt')
    expect(await tree.changes()).toEqual({ branch: 'topic', commits: 1, files: ['a.txt', 'b.txt', 'new/ü n.txt'] })
  })

  it('knows where in it the folder is that it was made from', async () => {
    const { core, repo } = newRepo({ 'in/side/x': '' })
    write(repo, { 'new/x': '' })
    const [whole, inside, absent] = await Promise.all(['', 'in/side', 'new'].map(name => core.create({ repo: join(repo, name) })))
    expect([whole!.cwd, inside!.cwd, absent!.cwd]).toEqual([whole!.path, join(inside!.path, 'in', 'side'), absent!.path])
  })

  it('runs no hook and no monitor of the repository', async () => {
    const { core, repo } = newRepo()
    const hook = join(repo, '.git', 'hooks', 'post-checkout')
    mkdirSync(join(repo, '.git', 'hooks'), { recursive: true })
    writeFileSync(hook, `#!/bin/sh\ntouch "${repo}/ran"\n`)
    chmodSync(hook, 0o755)
    git(repo, 'config', 'core.fsmonitor', hook)
    await core.create({ repo })
    expect(existsSync(join(repo, 'ran'))).toBe(false)
  })

  it('is made by exactly the words that worktreeAddArgs() says', async () => {
    const playground = newRepo()
    const { core, repo, trees } = playground
    const bin = newFolder()
    writeFileSync(join(bin, 'git'), `#!/bin/sh\ncase "$*" in *"worktree add"*) for word; do printf '%s\\n' "$word" >> "${bin}/said"; done;; esac\nPATH=\${PATH#*:} exec git "$@"\n`)
    chmodSync(join(bin, 'git'), 0o755)
    vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`)
    const base = git(repo, 'rev-parse', 'HEAD')
    await core.create({ repo, path: 'one', branch: 'topic' })
    const said = readFileSync(join(bin, 'said'), 'utf8').trimEnd().split('\n')
    expect(said).toEqual(worktreeAddArgs({ repo, path: join(trees, 'one'), branch: 'topic', base }))
    expect(said).toEqual(['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', 'worktree', 'add', '-b', 'topic', '--', join(trees, 'one'), base])
    expect(worktreeAddArgs({ repo, path: '/x' })).toEqual([...said.slice(0, 6), '--detach', '--', '/x', 'HEAD'])
  })

  it('is not led astray by what a hook of git has set in the environment', async () => {
    const { core, repo } = newRepo()
    const other = newRepo()
    vi.stubEnv('GIT_DIR', join(other.repo, '.git'))
    vi.stubEnv('GIT_INDEX_FILE', join(other.repo, '.git', 'index'))
    const tree = await core.create({ repo })
    expect(tree.repo).toBe(join(repo, '.git'))
  })

  it.each([
    ['a detached HEAD', (playground: Playground) => { git(playground.repo, 'checkout', '--quiet', '--detach'); return playground.repo }],
    ['a folder of the repository', ({ repo }: Playground) => { write(repo, { 'in/side/x': '' }); return join(repo, 'in', 'side') }],
    ['a worktree', async ({ core, repo }: Playground) => (await core.create({ repo })).path],
    ['a repository inside a worktree', async ({ core, repo }: Playground) => {
      const inner = join((await core.create({ repo })).path, 'inner')
      mkdirSync(inner)
      git(inner, 'init', '--quiet')
      commit(inner, { 'a.txt': 'a' })
      return inner
    }],
    ['a bare repository', ({ repo }: Playground) => { const bare = `${repo}.git`; git(repo, 'clone', '--quiet', '--bare', repo, bare); return bare }],
  ])('can be made from %s', async (_, from) => {
    const playground = newRepo()
    const tree = await playground.core.create({ repo: await from(playground) })
    expect(readFileSync(join(tree.path, 'a.txt'), 'utf8')).toBe('a')
  })

  it('can be made where the repository has a submodule', async () => {
    const inner = newRepo({ 'inner.txt': '' })
    const { core, repo } = newRepo()
    git(repo, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.repo, 'sub')
    commit(repo, {})
    const tree = await core.create({ repo })
    expect(existsSync(join(tree.path, '.gitmodules'))).toBe(true)
    expect(await tree.release()).toEqual({ released: true })
  })

  it('is in the user\'s data folder by default, outside the checkout', async () => {
    const { repo } = newRepo()
    const data = newFolder()
    vi.stubEnv('XDG_DATA_HOME', data)
    const tree = await new WorktreeCore({ timeoutMs: 20_000 }).create({ repo })
    expect(tree.path).toMatch(new RegExp(`^${data}/offshoot/worktrees/repo-[0-9a-f]{8}/tree-`))
  })

  it('goes where a base that is a link leads', async () => {
    const { repo } = newRepo()
    const folder = newFolder()
    mkdirSync(join(folder, 'real'))
    symlinkSync('real', join(folder, 'link'))
    const core = new WorktreeCore({ dir: join(folder, 'link'), timeoutMs: 20_000 })
    expect((await core.create({ repo, path: 'one' })).path).toBe(join(folder, 'real', 'one'))
    expect((await core.create({ repo, path: join(folder, 'link', 'two') })).path).toBe(join(folder, 'real', 'two'))
  })
})

describe('what cannot be is refused, in a sentence, and leaves nothing behind:', () => {
  it.each<[string, Parameters<WorktreeCore['create']>[0] extends infer C ? Partial<C> : never, string, RegExp]>([
    ['a path outside', { path: '/elsewhere' }, 'VALIDATION', /"\/elsewhere" leads outside/],
    ['a path that climbs out', { path: '../../elsewhere' }, 'VALIDATION', /leads outside/],
    ['the folder itself', { path: '.' }, 'VALIDATION', /leads outside/],
    ['a branch that is taken', { branch: 'main' }, 'VALIDATION', /branch "main" exists already/],
    ['a branch that is no name', { branch: 'a..b' }, 'VALIDATION', /"a\.\.b" cannot be the name/],
    ['a branch that is an option', { branch: '--force' }, 'VALIDATION', /cannot be the name/],
    ['a base that is no commit', { base: 'nowhere' }, 'VALIDATION', /"nowhere" names no commit/],
    ['a base that is an option', { base: '--all' }, 'VALIDATION', /names no commit/],
    ['a relative repository', { repo: 'here' }, 'VALIDATION', /must be an absolute path/],
    ['a folder in no repository', { repo: '/' }, 'NOT_SUPPORTED', /in no git repository \(fatal: not a git repository/],
    ['a folder that is not there', { repo: '/no/such/folder' }, 'NOT_SUPPORTED', /git cannot run in \/no\/such\/folder/],
  ])('%s', async (_, config, code, message) => {
    const playground = newRepo()
    await expect(playground.core.create({ repo: playground.repo, ...config })).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
    expect(left(playground)).toEqual(nothing)
  })

  it('a repository without a commit', async () => {
    const repo = newFolder()
    git(repo, 'init', '--quiet')
    await expect(new WorktreeCore({ dir: join(repo, '.trees'), timeoutMs: 20_000 }).create({ repo })).rejects.toMatchObject({ code: 'NOT_SUPPORTED', message: expect.stringContaining('has no commit yet') })
    expect(existsSync(join(repo, '.trees'))).toBe(false)
  })

  it('a path where something is, and one that a link leads out of', async () => {
    const playground = newRepo()
    const { core, repo, trees } = playground
    write(trees, { 'taken/x': '' })
    const elsewhere = newFolder()
    symlinkSync(elsewhere, join(trees, 'out'))
    symlinkSync('nowhere', join(trees, 'dangling'))
    await expect(core.create({ repo, path: 'taken', branch: 'topic' })).rejects.toThrow('"taken" exists already')
    for (const path of ['out/side', 'out/new/side']) await expect(core.create({ repo, path, branch: 'topic' })).rejects.toThrow('by a symbolic link')
    await expect(core.create({ repo, path: 'dangling', branch: 'topic' })).rejects.toThrow('exists already')
    await expect(core.create({ repo, path: 'dangling/x', branch: 'topic' })).rejects.toThrow('leads nowhere')
    await expect(core.create({ repo, path: 'taken/x/y', branch: 'topic' })).rejects.toMatchObject({ code: 'VALIDATION' })
    expect(readdirSync(elsewhere)).toEqual([])
    expect(left(playground)).toEqual({ ...nothing, trees: true })
  })

  it('where there is no git', async () => {
    const playground = newRepo()
    vi.stubEnv('PATH', '/nowhere')
    await expect(playground.core.create({ repo: playground.repo })).rejects.toMatchObject({ code: 'NOT_SUPPORTED', message: expect.stringContaining('is git installed') })
    vi.unstubAllEnvs()
    expect(left(playground)).toEqual(nothing)
  })

  it.each(['an abort', 'a deadline'])('%s in the middle of a checkout', async how => {
    const playground = newRepo()
    const { repo, trees } = playground
    const bin = newFolder()
    // Git is at it, with half of its work done, when it is told to end.
    writeFileSync(join(bin, 'git'), `#!/bin/sh\ncase "$*" in *"worktree add"*) PATH=\${PATH#*:} git "$@"; touch "${bin}/added"; sleep 60;; *) PATH=\${PATH#*:} exec git "$@";; esac\n`)
    chmodSync(join(bin, 'git'), 0o755)
    vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`)
    const controller = new AbortController()
    const making = new WorktreeCore({ dir: trees, timeoutMs: how === 'an abort' ? 20_000 : 1500 }).create({ repo, path: 'one', branch: 'topic' }, { signal: controller.signal })
    making.catch(() => {})
    await expect.poll(() => existsSync(join(bin, 'added')), { timeout: 8000 }).toBe(true)
    if (how === 'an abort') controller.abort(new Error('enough'))
    await expect(making).rejects.toThrow(how === 'an abort' ? 'enough' : /took longer than 1500 ms/)
    vi.unstubAllEnvs()
    expect(left(playground)).toEqual(nothing)
  })
})
