import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'

const bin = fileURLToPath(new URL('../lib/bin.cjs', import.meta.url))

/** Makes the pipes of a process look like a terminal of 40 columns to it; keys arrive as they are typed. */
const terminal = `data:text/javascript,${encodeURIComponent(`
  Object.assign(process.stdin, { isTTY: true, setRawMode: () => process.stdin })
  Object.assign(process.stderr, { isTTY: true, columns: 40, rows: 24 })
`)}`

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly process: ChildProcess
  readonly finished: Promise<Finished>
  /** Write to its standard input, where that was left open. */
  type(text: string): void
  /** No more lines. */
  endInput(): void
  /** Settles once it has written something that matches; rejects when it ends without. */
  wrote(on: 'stdout' | 'stderr', text: RegExp): Promise<void>
}

const folders: string[] = []
const processes: ChildProcess[] = []

// What a test that failed left running goes too.
afterAll(() => {
  for (const child of processes) if (child.exitCode === null) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A folder of its own for one test, with these files. */
export function folderWith(files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'offshoot-cli-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

export interface StartOptions {
  readonly cwd: string
  readonly env?: Record<string, string>
  /** All of its standard input; without it, that stays open. */
  readonly input?: string
  /** A person sits before it: see `type()` and stderr. */
  readonly onTerminal?: boolean
}

/** Start the built command. It sees no model of the environment unless told so. */
export function start(args: readonly string[], { cwd, env = {}, input, onTerminal = false }: StartOptions): Running {
  const { OPENAI_BASE_URL: _url, OPENAI_MODEL: _model, OPENAI_API_KEY: _key, ...rest } = process.env
  const child = spawn(process.execPath, [...onTerminal ? ['--import', terminal] : [], bin, ...args], { cwd, env: { ...rest, ...env } })
  processes.push(child)
  const written = { stdout: '', stderr: '' }
  const output = new EventEmitter().setMaxListeners(0)
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      written[name] += chunk
      output.emit('data')
    })
  }
  child.stdin.on('error', () => {})
  if (input !== undefined) child.stdin.end(input)
  const finished = once(child, 'close').then(([code]) => ({ code: code as number | null, ...written }))
  return {
    process: child,
    finished,
    type(text) { child.stdin.write(text) },
    endInput() { child.stdin.end() },
    async wrote(on, text) {
      while (!text.test(written[on])) {
        const ended = await Promise.race([once(output, 'data').then(() => false), finished.then(() => true)])
        if (ended && !text.test(written[on])) throw new Error(`ended without ${text} on ${on}: ${JSON.stringify(written)}`)
      }
    },
  }
}

export function offshoot(args: readonly string[], options: StartOptions): Promise<Finished> {
  return start(args, { input: '', ...options }).finished
}

/** A whole app over an endpoint, with one delegation tool. */
export const appConfig = `
- name: '@offshoot/runtime'
- name: '@offshoot/model-ai-sdk'
  config: { baseURL: !!js process.env.OPENAI_BASE_URL, model: test-model }
- name: '@offshoot/tool-subagent'
  config: { provider: spawn, toolName: research }
`
