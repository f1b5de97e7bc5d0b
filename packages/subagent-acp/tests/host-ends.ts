import assert from 'node:assert/strict'
import { vi } from 'vitest'
import { type Host, type HostEnd, startHost } from './hosts.ts'
import { shortTimeouts, task } from './faults.ts'
import { startApp } from './support.ts'

/** An agent that ends when its input does. */
export const wellBehaved = { behaviour: { kind: 'hang' } } as const
/** One that ends for nothing but SIGKILL, and has started a process in a session of its own. */
export const deaf = { ...wellBehaved, noExitOnEof: true, ignoreTerm: true, companions: ['detached'] } as const

/** What a host says that has ended what another one left. */
export const endedOne = /ended "node" \(process \d+\), which a host that is gone had left behind/

/** A host whose child is at work. @param dir of another host, to share its records. */
export async function hostAtWork(agent: typeof wellBehaved | typeof deaf, how: HostEnd, dir?: string): Promise<Host> {
  const host = startHost({ agent, config: { timeouts: shortTimeouts }, how, task, dir })
  await host.log.waitFor('under-way')
  return host
}

export async function assertNothingLives({ survivors }: Host): Promise<void> {
  await vi.waitFor(() => { assert.deepEqual(survivors(), []) }, { timeout: 5000, interval: 20 })
}

/** The plugin is loaded by another host with the same folder for records. Answers what it has logged by the time that `isDone`. */
export async function loadNextTo({ dir }: Host, isDone: (logged: readonly string[]) => boolean): Promise<readonly string[]> {
  vi.stubEnv('TMPDIR', dir)
  const { logged } = await startApp()
  vi.unstubAllEnvs()
  await vi.waitFor(() => { assert.ok(isDone(logged)) }, { timeout: 5000, interval: 20 })
  return logged
}
