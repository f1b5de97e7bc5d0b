import type { Agent, Notify } from '@offshoot/agent'
import { suggest } from '@offshoot/problems'
import type { Usage } from '@offshoot/session'
import { UsageAccount } from './account.ts'
import { Admission, type AdmissionLimits } from './admission.ts'
import { bounded } from './bounded.ts'
import { checkRequest, missingCapability } from './check.ts'
import { type DeadlineLimits, Deadlines } from './deadlines.ts'
import { SubagentError } from './error.ts'
import { failureText } from './failure-text.ts'
import { PendingStart } from './pending-start.ts'
import { PublishedRun } from './run.ts'
import type { Slot } from './slot.ts'
import { delegationTree, type TreeEntry } from './tree.ts'
import type {
  DelegationNode, ProviderRun, SubagentProvider, SubagentRun, SubagentRunInfo, SubagentSeed, SubagentSeedInfo, SubagentStartRequest,
} from './types.ts'

export interface SubagentLimits {
  readonly maxDepth: number
  readonly disposeGraceMs: number
  readonly limits: AdmissionLimits
  readonly deadlines: DeadlineLimits
}

interface Registration {
  readonly provider: SubagentProvider
  readonly pending: Set<PendingStart>
}

/** The plain core behind `ctx.subagents`: plugins on a hot path take it once and keep it. */
export class SubagentCore {
  readonly live = new Set<PublishedRun>()
  readonly account: UsageAccount = new UsageAccount()
  readonly admission: Admission
  readonly deadlines: Deadlines
  readonly notify: Notify
  readonly log: (error: unknown) => void
  readonly disposeGraceMs: number
  private readonly maxDepth: number
  private readonly registrations = new Map<string, Registration>()
  private readonly queued = new Set<PendingStart>()
  private counter = 0

  constructor({ maxDepth, disposeGraceMs, limits, deadlines }: SubagentLimits, notify: Notify, log: (error: unknown) => void) {
    this.maxDepth = maxDepth
    this.admission = new Admission(limits, {
      tokensOf: root => tokens(this.usageOf(root)),
      workersOf: root => this.workers(root),
    })
    this.deadlines = new Deadlines(deadlines)
    this.disposeGraceMs = disposeGraceMs
    this.notify = notify
    this.log = log
  }

  getProvider(name: string): SubagentProvider | undefined {
    return this.registrations.get(name)?.provider
  }

  list(): string[] {
    return [...this.registrations.keys()]
  }

  tree(agent?: Agent): DelegationNode[] {
    const queued = [...this.queued].map(pending => ({ parent: pending.request.parent, info: infoOf(pending), state: 'queued' as const }))
    return delegationTree([...this.live, ...queued], this.account.totals(this.live), agent)
  }

  usageOf(agent: Agent): Usage {
    return this.account.totals(this.live)(agent)
  }

  /** @throws {SubagentError} `DUPLICATE_PROVIDER`. */
  add(provider: SubagentProvider): void {
    if (this.registrations.has(provider.name)) {
      throw new SubagentError('DUPLICATE_PROVIDER', `subagent provider "${provider.name}" is already registered; give one of the two another name`)
    }
    this.registrations.set(provider.name, { provider, pending: new Set() })
    this.notify('subagent/provider-added', provider)
  }

  /** Refuse new starts and cancel those without a child yet; settles when none of them is left, each within `disposeGraceMs`. */
  async remove(provider: SubagentProvider): Promise<void> {
    const registration = this.registrations.get(provider.name)
    if (registration?.provider !== provider) return
    this.registrations.delete(provider.name)
    const reason = new SubagentError('ABORTED', `subagent provider "${provider.name}" was removed while the child started`)
    const withdrawn = [...registration.pending]
    for (const pending of withdrawn) pending.withdraw(reason)
    this.notify('subagent/provider-removed', provider.name)
    await Promise.allSettled(withdrawn.flatMap(({ done }) => done ?? []))
  }

  async start(name: string, request: SubagentStartRequest): Promise<SubagentRun> {
    const registration = this.registrations.get(name)
    if (!registration) {
      throw new SubagentError('NO_PROVIDER', `no subagent provider "${name}"${suggest(name, this.registrations.keys(), 'registered')}`)
    }
    const { provider } = registration
    checkRequest(request)
    const missing = missingCapability(provider, request)
    if (missing !== undefined) throw new SubagentError('UNSUPPORTED_CAPABILITY', missing)
    const { parent, signal } = request
    const depth = parent.depth + 1
    const maxDepth = Math.min(this.maxDepth, request.maxDepth ?? Infinity, parent.maxDepth ?? Infinity)
    if (depth > maxDepth) throw depthLimit(depth, maxDepth)
    if (signal.aborted) throw aborted(name, signal.reason)

    const { tool } = request
    // Before the slot: a parent that only waits for this child gives its own to it.
    const waited = tool && tool.taskId === undefined ? parent.waitForChild(tool.callId) : nothing
    const pending = new PendingStart(request, this.enter(parent, waited), waited, { runId: `run-${++this.counter}`, provider: name, depth, maxDepth, disposeGraceMs: this.disposeGraceMs })
    registration.pending.add(pending)
    pending.done = this.provide(registration, pending)
    return await pending.done
  }

  /** Dispose every live run. */
  async drain(): Promise<void> {
    await Promise.allSettled([...this.live].map(run => run.dispose()))
  }

  private async provide({ provider, pending: unpublished }: Registration, pending: PendingStart): Promise<SubagentRun> {
    try {
      if (pending.slot.state !== 'held') await this.wait(pending)
      const run = await this.startOf(provider, pending)
      if (typeof run?.dispose !== 'function' || typeof run.result?.then !== 'function') {
        throw new TypeError('it handed over something that is no run (result, dispose)')
      }
      if (!pending.withdrawn) return this.publish(run, pending)
      run.result.then(undefined, () => {})
      await bounded(Promise.resolve(run.dispose()), this.disposeGraceMs, () => new Error('the child did not stop')).catch(this.log)
      throw aborted(provider.name, 'the provider was removed')
    } catch (error) {
      pending.release()
      this.admission.undo(pending.slot)
      throw startFailure(provider.name, pending, error)
    } finally {
      unpublished.delete(pending)
    }
  }

  private enter(parent: Agent, waited: () => void): Slot {
    try {
      return this.admission.enter(parent)
    } catch (error) {
      waited()
      throw error
    }
  }

  /** Until its slot is there. It can be seen meanwhile, and cancelled. */
  private async wait(pending: PendingStart): Promise<void> {
    this.queued.add(pending)
    try {
      await this.admission.wait(pending.slot, pending.request.signal)
    } finally {
      this.queued.delete(pending)
    }
  }

  /** The provider's start, within its time; after an abort, within `disposeGraceMs`. A child that comes after all is disposed of. */
  private startOf(provider: SubagentProvider, pending: PendingStart): Promise<ProviderRun> {
    const { disposeGraceMs, deadlines: { limits: { startMs } } } = this
    const starting = provider.start(pending.request)
    return bounded(starting, startMs, () => {
      const { aborted: isAborted, reason } = pending.request.signal
      const error = isAborted ? aborted(provider.name, reason) : new SubagentError('START_TIMEOUT', `subagent provider "${provider.name}" made no child within ${startMs} ms (deadlines.startMs)`)
      this.log(error)
      pending.withdraw(error)
      starting.then(run => run.dispose()).catch(this.log)
      return error
    }, { signal: () => pending.request.signal, graceMs: disposeGraceMs })
  }

  private publish(run: ProviderRun, pending: PendingStart): SubagentRun {
    const info = infoOf(pending, run)
    const published = new PublishedRun(this, run, info, pending, least(least(this.deadlines.limits.timeoutMs, pending.request.timeoutMs), run.deadlines?.timeoutMs))
    if (run.agent) run.agent.slot = pending.slot
    this.live.add(published)
    this.account.open(published)
    this.notify('subagent/start', info)
    this.deadlines.watch(published)
    published.begin()
    return published
  }

  private workers(root: Agent): string[] {
    const isBelow = ({ parent }: TreeEntry): boolean => {
      let agent = parent
      while (agent.parent) agent = agent.parent
      return agent === root
    }
    return [...this.live].filter(run => !run.isSettled && isBelow(run)).map(({ id, info, provider }) => `${id} (${info.label ?? info.tool?.name ?? provider})`)
  }
}

const nothing = (): void => {}

function infoOf({ request, startedAt, provider }: PendingStart, run?: ProviderRun): SubagentRunInfo {
  const { runId, depth, parent, label, tool } = request
  return Object.freeze({
    runId, provider, depth,
    ...(label === undefined ? {} : { label }),
    ...(tool === undefined ? {} : { tool }),
    parentSessionId: parent.session.id,
    ...(run?.agent ? { sessionId: run.agent.session.id } : {}),
    ...(run?.seed ? { seed: seedInfo(run.seed) } : {}),
    startedAt: run ? Date.now() : startedAt,
  })
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? a ?? b : Math.min(a, b)
}

function tokens({ inputTokens = 0, outputTokens = 0 }: Usage): number {
  return inputTokens + outputTokens
}

function seedInfo({ turns, steps, moved }: SubagentSeed): SubagentSeedInfo {
  return Object.freeze({ turns, steps, moved: Object.freeze([...moved]), coldCache: moved.length > 0 })
}

function startFailure(name: string, { request, withdrawn }: PendingStart, error: unknown): SubagentError {
  if (error instanceof SubagentError) return error
  if (request.callerSignal.aborted) return aborted(name, request.callerSignal.reason)
  if (withdrawn) return aborted(name, 'the provider was removed')
  return new SubagentError('START_FAILED', `subagent provider "${name}" could not start a child: ${failureText(error)}`, { cause: error })
}

function aborted(name: string, reason: unknown): SubagentError {
  return new SubagentError('ABORTED', `the start of a child with "${name}" was cancelled: ${failureText(reason)}`, { cause: reason })
}

function depthLimit(depth: number, maxDepth: number): SubagentError {
  return new SubagentError('DEPTH_LIMIT', maxDepth === 0
    ? 'delegation is switched off here (maxDepth 0); do the task yourself'
    : `a child would be at delegation depth ${depth}, and the limit is ${maxDepth} (maxDepth); do the task yourself`)
}
