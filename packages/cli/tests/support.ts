import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach } from 'vitest'

const bin = fileURLToPath(new URL('../lib/bin.js', import.meta.url))

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly process: ChildProcess
  readonly finished: Promise<Finished>
}

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A folder of its own for one test, with these files. */
export function folderWith(files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'offshoot-cli-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

/** Start the built command. It sees no model of the environment unless told so. */
export function start(args: readonly string[], { cwd, env = {}, input = '' }: { cwd: string, env?: Record<string, string>, input?: string }): Running {
  const { OPENAI_BASE_URL: _url, OPENAI_MODEL: _model, OPENAI_API_KEY: _key, ...rest } = process.env
  const child = spawn(process.execPath, [bin, ...args], { cwd, env: { ...rest, ...env } })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => { stdout += chunk })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => { stderr += chunk })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const finished = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }))
  return { process: child, finished }
}

export function offshoot(args: readonly string[], options: Parameters<typeof start>[1]): Promise<Finished> {
  return start(args, options).finished
}

/** A whole app over an endpoint, with one delegation tool. */
export const appConfig = `
- name: '@offshoot/runtime'
- name: '@offshoot/model-ai-sdk'
  config: { baseURL: !!js process.env.OPENAI_BASE_URL, model: test-model }
- name: '@offshoot/tool-subagent'
  config: { provider: spawn, toolName: research }
`
