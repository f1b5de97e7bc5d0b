import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

const identity = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.org', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.org' }

/** What git answers. @throws with what it says */
export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...identity } }).trim()
}

/** A temporary folder, of whose path no part is a link. It has a space, and goes with the test. */
export function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'offshoot test-')))
  onTestFinished(() => { rmSync(folder, { recursive: true, force: true }) })
  return folder
}

/** A repository with one commit, on `main`, and a place for its worktrees, which is not there yet. */
export function newRepo(files: Record<string, string> = { 'a.txt': 'a' }): { readonly repo: string, readonly trees: string } {
  const folder = newFolder()
  const repo = join(folder, 'repo')
  mkdirSync(repo)
  git(repo, 'init', '--quiet', '-b', 'main')
  commit(repo, files)
  return { repo, trees: join(folder, 'trees') }
}

/** Answers the new commit. */
export function commit(cwd: string, files: Record<string, string>): string {
  write(cwd, files)
  git(cwd, 'add', '--all')
  git(cwd, 'commit', '--quiet', '--allow-empty', '-m', 'commit')
  return git(cwd, 'rev-parse', 'HEAD')
}

export function write(cwd: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), text)
  }
}
