import ApprovalService from '@offshoot/approvals'
import { textOf } from '@offshoot/session'
import type { SubagentResult } from '@offshoot/subagent'
import assert from 'node:assert/strict'
import { vi } from 'vitest'
import { LaunchRecords } from '../src/launch-records.ts'
import { type Fault, shortTimeouts, type Situation, task } from './faults.ts'
import { startHost } from './hosts.ts'
import { type AcpApp, startApp } from './support.ts'

/** Longer than every limit that a fault sets, on a machine that is busy with other tests; shorter than those that it leaves long. */
const limitMs = 8000
/** No limit: only the rungs count. */
const longGraceMs = 600_000

/** What a fault must come to in a situation, in time; nothing of the agent lives afterwards. */
export async function assertDealtWith(fault: Fault, situation: Situation): Promise<void> {
  if (situation === 'host exit') return checkHostExit(fault)
  const app = await startFaulty(fault, situation)
  await checks[situation](app, fault)
  await nothingLives(app.survivors)
}

const checks = {
  async start(app: AcpApp, { refused }: Fault): Promise<void> {
    const starting = app.start({ prompt: task })
    if (refused) {
      await refusedWith(starting, 'START_FAILED', refused)
      return
    }
    const run = await within(starting)
    await within(run.dispose())
    await within(run.result)
  },

  async run(app: AcpApp, { ends = { stopReason: 'completed', output: task } }: Fault): Promise<void> {
    const run = await within(app.start({ prompt: task }))
    const result = await within(run.result)
    const { stopReason, output, diagnostic = /^prompt: /, usage } = ends
    assert.equal(result.stopReason, stopReason, result.diagnostic)
    if (output !== undefined) assert.equal(textOf(result.output), output)
    if (stopReason === 'completed') assert.equal(result.diagnostic, undefined)
    else assert.match(result.diagnostic ?? '', diagnostic)
    assert.deepEqual({ ...result.usage, ...usage }, result.usage)
    await within(run.dispose())
  },

  async cancel(app: AcpApp, fault: Fault): Promise<void> {
    const controller = new AbortController()
    const starting = app.start({ prompt: task, signal: controller.signal })
    if (fault.refused) {
      await within(app.files.log.waitFor('hang'))
      controller.abort(new Error('enough'))
      await refusedWith(starting, 'ABORTED', /enough/)
      return
    }
    const run = await within(starting)
    if (endsByItself(fault)) {
      // It comes too late to change anything.
      const result = await within(run.result)
      controller.abort(new Error('enough'))
      assert.equal(await run.result, result)
    } else {
      await within(app.files.log.waitFor(atWork(fault)))
      controller.abort(new Error('enough'))
      const result = await within(run.result)
      assertAborted(result, /^prompt: cancelled: enough \(process \d+ still runs/)
      // One that heeds a cancel is not cut off.
      if (!ignoresCancel(fault)) assert.doesNotMatch(result.diagnostic ?? '', /did not end its turn/)
    }
    await within(run.dispose())
  },

  async dispose(app: AcpApp, fault: Fault): Promise<void> {
    const starting = app.start({ prompt: task })
    if (fault.refused) {
      const refusal = starting.then(() => undefined, (error: unknown) => error)
      await within(app.files.log.waitFor('hang'))
      await within(app.ctx.fiber.dispose())
      assert.ok(await within(refusal) instanceof Error)
      return
    }
    const run = await within(starting)
    if (!endsByItself(fault)) await within(app.files.log.waitFor(atWork(fault)))
    await within(run.dispose())
    const result = await within(run.result)
    // Who ends by itself may have been faster.
    if (!endsByItself(fault)) assertAborted(result, /^prompt: cancelled: the run was disposed/)
    else assert.ok(['aborted', fault.ends?.stopReason].includes(result.stopReason), `${result.stopReason}: ${result.diagnostic}`)
  },
} satisfies Record<Exclude<Situation, 'host exit'>, (app: AcpApp, fault: Fault) => Promise<void>>

/** A host that can takes its child along; where it cannot, the end of the child's input does, or the next host. */
async function checkHostExit(fault: Fault): Promise<void> {
  const { agent, config } = fault
  await Promise.all((['exit', 'SIGKILL'] as const).map(async how => {
    const host = startHost({ agent: { ...agent, behaviour: agent.behaviour ?? { kind: 'hang' } }, config: { timeouts: shortTimeouts, ...config }, how, task })
    await within(host.log.waitFor(atWork(fault)))
    await within(host.end())
    if (how === 'SIGKILL') await new LaunchRecords(host.recordsDir).reapOrphans()
    await nothingLives(host.survivors)
  }))
}

async function startFaulty({ agent, config, disposeGraceMs = longGraceMs }: Fault, situation: Situation): Promise<AcpApp> {
  const isLeftAlone = situation === 'start' || situation === 'run'
  const behaviour = agent.behaviour ?? (isLeftAlone ? { kind: 'echo' } : { kind: 'hang' })
  const app = await startApp({ ...agent, behaviour }, { timeouts: shortTimeouts, ...config }, { disposeGraceMs, deadlines: { firstTokenMs: 60_000 } })
  // Somebody is there to ask, and says nothing: for a moment where the child is left alone, else for long.
  await app.ctx.plugin(ApprovalService, { timeoutMs: isLeftAlone ? 300 : 60_000 })
  app.ctx.approvals.attend({ asked: () => {} })
  return app
}

/** Its turn is over without anybody's doing, whatever it is told to do with a prompt. */
function endsByItself({ agent: { behaviour = { kind: 'hang' }, crash, error, glueAt, glue } }: Fault): boolean {
  return behaviour.kind !== 'hang' || [crash, error].some(moment => moment === 'prompt' || moment === 'mid-prompt') || glue === 'unended' && glueAt === 'session/new'
}

function ignoresCancel({ agent: { onCancel, hang } }: Fault): boolean {
  return onCancel === 'ignore' || hang === 'prompt' || hang === 'mid-prompt'
}

/** What an agent writes into its log once the fault shows, or it waits to be told what to do. */
function atWork(fault: Fault): string {
  const { hang, crash, permission, glue } = fault.agent
  if (hang !== undefined && hang !== 'close' && hang !== 'after-prompt') return 'hang'
  if (glue === 'unended') return 'session/new'
  if (endsByItself(fault)) return crash === undefined ? 'prompt-answered' : 'crash'
  return permission === undefined ? 'under-way' : 'permission-asked'
}

function assertAborted({ stopReason, diagnostic = '' }: SubagentResult, why: RegExp): void {
  assert.equal(stopReason, 'aborted', diagnostic)
  assert.match(diagnostic, why)
}

/** A process that was killed may take a moment to be gone. */
async function nothingLives(survivors: () => string[]): Promise<void> {
  await vi.waitFor(() => { assert.deepEqual(survivors(), []) }, { timeout: 3000, interval: 20 })
}

async function refusedWith(starting: Promise<unknown>, code: string, message: RegExp): Promise<void> {
  const error = await within(starting.then(() => undefined, (refusal: unknown) => refusal)) as { readonly code?: string, readonly message?: string } | undefined
  assert.equal(error?.code, code, error?.message)
  assert.match(error.message ?? '', message)
}

async function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => { timer = setTimeout(() => { reject(new Error(`not within ${limitMs} ms`)) }, limitMs) })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
