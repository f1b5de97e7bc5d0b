import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Input } from '../src/index.ts'
import { defaultRecordsDir } from '../src/launch-records.ts'
import { FakeAgentFiles, type FakeAgentLog } from '../src/testing.ts'
import { commandOf, newTestMark, type TestAgent } from './support.ts'

/** How a host can end: `exit` and `throw` run its exit handlers, signals do not; `unload` unloads the plugin first. */
export type HostEnd = 'exit' | 'throw' | 'unload' | 'SIGTERM' | 'SIGKILL'

/** Another process, with an app over the built packages and one child. */
export interface Host {
  readonly log: FakeAgentLog
  /** Its folder for temporary files, and so of its records. */
  readonly dir: string
  readonly recordsDir: string
  readonly survivors: () => string[]
  /** Settles when it is gone. */
  end(): Promise<unknown>
}

export interface HostSetup {
  readonly agent: TestAgent
  readonly config?: Partial<Input>
  readonly how: HostEnd
  readonly task: string
  /** Its folder for temporary files; its own where none is said. */
  readonly dir?: string | undefined
}

const script = new URL('host-with-a-child.mjs', import.meta.url).pathname

/** All of it goes when the test ends. */
export function startHost({ agent, config, how, task, dir = mkdtempSync(join(tmpdir(), 'offshoot-host-')) }: HostSetup): Host {
  const files = new FakeAgentFiles()
  const { env, survivors } = newTestMark()
  const command = commandOf({ ...agent, logFile: files.options.logFile })
  const host = spawn(process.execPath, [script, JSON.stringify({ config: { ...command, ...config, env }, how, task })], {
    env: { ...process.env, TMPDIR: dir }, stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = once(host, 'exit')
  onTestFinished(() => {
    host.kill('SIGKILL')
    files.dispose()
    rmSync(dir, { recursive: true, force: true })
  })
  return {
    dir, survivors,
    log: files.log,
    recordsDir: join(dir, basename(defaultRecordsDir())),
    end: () => {
      host.stdin.end()
      return ended
    },
  }
}
