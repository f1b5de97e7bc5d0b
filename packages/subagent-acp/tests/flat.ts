import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { onTestFinished, vi } from 'vitest'
import { defaultRecordsDir } from '../src/launch-records.ts'
import { task } from './faults.ts'
import { startApp } from './support.ts'

interface Held {
  readonly descriptors: number
  /** Of this process, by event. */
  readonly listeners: Readonly<Record<string, number>>
  readonly aborts: number
  readonly records: number
}

/** What this process holds that children could have left. */
function held(signal: AbortSignal): Held {
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    listeners: Object.fromEntries(process.eventNames().map(name => [String(name), process.listenerCount(name)])),
    aborts: getEventListeners(signal, 'abort').length,
    records: readdirSync(defaultRecordsDir()).length,
  }
}

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

function heapAfterGc(): number {
  gc()
  gc()
  return process.memoryUsage().heapUsed
}

/** Children one after the other, then several at once: everything as before. Answers by how much the heap grew for each, in bytes. */
export async function checkFlat(inSequence: number, atOnce: number): Promise<number> {
  // Records of its own: other hosts come and go.
  const dir = mkdtempSync(join(tmpdir(), 'offshoot-flat-'))
  onTestFinished(() => { rmSync(dir, { recursive: true }) })
  vi.stubEnv('TMPDIR', dir)
  const app = await startApp()
  const { signal } = new AbortController()
  const one = async (): Promise<void> => {
    await using run = await app.start({ prompt: task, signal })
    assert.equal((await run.result).stopReason, 'completed')
  }
  // What is made once, with the first few: the SDK, caches, compiled code.
  for (let i = 0; i < inSequence / 5; i++) await one()
  const [before, heapBefore] = [held(signal), heapAfterGc()]
  for (let i = 0; i < inSequence; i++) await one()
  await Promise.all(Array.from({ length: atOnce }, one))
  await vi.waitFor(() => { assert.deepEqual(held(signal), before) })
  assert.deepEqual(app.survivors(), [])
  assert.deepEqual(app.ctx.subagents.tree(), [])
  return (heapAfterGc() - heapBefore) / (inSequence + atOnce)
}
