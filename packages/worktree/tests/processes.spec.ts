import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import runBuild from '../../../scripts/build-for-tests.mjs'
import { git, newFolder, newRepo, write } from './support.ts'

const host = fileURLToPath(new URL('host.mjs', import.meta.url))

beforeAll(() => { runBuild() }, 60_000)

/** A process of its own, which makes worktrees when it is told to. */
async function startHost(repo: string, trees: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [host, repo, trees], { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } })
  onTestFinished(() => { child.kill('SIGKILL') })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => String((await lines.next()).value)
  await next()
  return { child, make: async (count: number): Promise<string[]> => { child.stdin.write(`${JSON.stringify({ count })}\n`); return JSON.parse(await next()) as string[] } }
}

describe('across processes', () => {
  it('twenty worktrees that two make at once are twenty', async () => {
    const { core, repo, trees } = newRepo()
    const hosts = await Promise.all([startHost(repo, trees), startHost(repo, trees)])
    const made = (await Promise.all(hosts.map(({ make }) => make(10)))).flat()
    expect(new Set(made).size).toBe(20)
    for (const path of made) expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a')
    expect(readdirSync(trees)).toHaveLength(20)
    expect((await core.list(repo)).map(({ path }) => path).sort()).toEqual([...made].sort())
    expect(git(repo, 'for-each-ref', '--format=%(refname)', 'refs/heads').split('\n')).toHaveLength(21)
    expect(existsSync(join(repo, '.git', 'offshoot-worktrees.lock'))).toBe(false)
  })

  it('what a process leaves that is killed with the lock in its hand is taken over, and what it had made is listed', async () => {
    const { core, repo, trees } = newRepo()
    const bin = newFolder()
    const { child, make } = await startHost(repo, trees, { PATH: `${bin}:${process.env['PATH']}` })
    const [first] = await make(1)
    // The second one stays in the middle.
    writeFileSync(join(bin, 'git'), `#!/bin/sh\ncase "$*" in *"worktree add"*) touch "${bin}/adding"; while [ -e "${bin}/adding" ]; do sleep 0.1; done; exit 1;; *) PATH=\${PATH#*:} exec git "$@";; esac\n`)
    chmodSync(join(bin, 'git'), 0o755)
    void make(1).catch(() => {})
    await expect.poll(() => existsSync(join(bin, 'adding')), { timeout: 8000 }).toBe(true)
    expect(readdirSync(join(repo, '.git', 'offshoot-worktrees.lock'))).toHaveLength(1)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const own = await core.create({ repo })
    expect(await core.list(repo)).toMatchObject([{ path: first, isOwnerAlive: false }, { path: own.path, isOwnerAlive: true }])
    expect(readdirSync(join(repo, '.git', 'offshoot-worktrees'))).toHaveLength(2)
    expect(existsSync(join(repo, '.git', 'offshoot-worktrees.lock'))).toBe(false)
    write(first!, { 'a.txt': 'its work' })
    expect(await core.release(repo, first!)).toMatchObject({ released: false })
  })

  it('a lock whose holder lives is waited for, and named when that takes too long', async () => {
    const { repo, trees } = newRepo()
    const bin = newFolder()
    writeFileSync(join(bin, 'git'), `#!/bin/sh\ncase "$*" in *"worktree add"*) touch "${bin}/adding"; while [ ! -e "${bin}/go" ]; do sleep 0.05; done;; esac\nPATH=\${PATH#*:} exec git "$@"\n`)
    chmodSync(join(bin, 'git'), 0o755)
    const { child, make } = await startHost(repo, trees, { PATH: `${bin}:${process.env['PATH']}` })
    const making = make(1)
    await expect.poll(() => existsSync(join(bin, 'adding')), { timeout: 8000 }).toBe(true)
    const { WorktreeCore } = await import('../src/index.ts')
    await expect(new WorktreeCore({ dir: trees, timeoutMs: 200 }).create({ repo })).rejects.toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining(`is held by ${child.pid}-`) })
    writeFileSync(join(bin, 'go'), '')
    const [path] = await making
    expect(existsSync(path!)).toBe(true)
  })
})
