import type { Agent, Notify } from '@offshoot/agent'
import { suggest } from '@offshoot/problems'
import { bounded } from './bounded.ts'
import { checkRequest, missingCapability } from './check.ts'
import { SubagentError } from './error.ts'
import { failureText } from './failure-text.ts'
import { PendingStart } from './pending-start.ts'
import { PublishedRun } from './run.ts'
import { delegationTree } from './tree.ts'
import type {
  DelegationNode, ProviderRun, SubagentProvider, SubagentRun, SubagentRunInfo, SubagentSeed, SubagentSeedInfo, SubagentStartRequest,
} from './types.ts'

export interface SubagentLimits {
  readonly maxDepth: number
  readonly disposeGraceMs: number
}

interface Registration {
  readonly provider: SubagentProvider
  readonly pending: Set<PendingStart>
}

/** The plain core behind `ctx.subagents`: plugins on a hot path take it once and keep it. */
export class SubagentCore {
  readonly live = new Set<PublishedRun>()
  readonly notify: Notify
  readonly log: (error: unknown) => void
  readonly disposeGraceMs: number
  private readonly maxDepth: number
  private readonly registrations = new Map<string, Registration>()
  private counter = 0

  constructor({ maxDepth, disposeGraceMs }: SubagentLimits, notify: Notify, log: (error: unknown) => void) {
    this.maxDepth = maxDepth
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
    return delegationTree(this.live, agent)
  }

  /** @throws {SubagentError} `DUPLICATE_PROVIDER`. */
  add(provider: SubagentProvider): void {
    if (this.registrations.has(provider.name)) {
      throw new SubagentError('DUPLICATE_PROVIDER', `subagent provider "${provider.name}" is already registered; give one of the two another name`)
    }
    this.registrations.set(provider.name, { provider, pending: new Set() })
    this.notify('subagent/provider-added', provider)
  }

  /** Refuse new starts and cancel those without a child yet; settles when none of them is left, within `disposeGraceMs`. */
  async remove(provider: SubagentProvider): Promise<void> {
    const registration = this.registrations.get(provider.name)
    if (registration?.provider !== provider) return
    this.registrations.delete(provider.name)
    const reason = new SubagentError('ABORTED', `subagent provider "${provider.name}" was removed while the child started`)
    const withdrawn = [...registration.pending]
    for (const pending of withdrawn) pending.withdraw(reason)
    this.notify('subagent/provider-removed', provider.name)
    if (withdrawn.length === 0) return
    const quiet = Promise.allSettled(withdrawn.flatMap(({ done }) => done ?? [])).then(() => {})
    await bounded(quiet, this.disposeGraceMs, () => new Error(`a start of "${provider.name}" did not end`)).catch(this.log)
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
    const maxDepth = Math.min(this.maxDepth, request.maxDepth ?? this.maxDepth)
    if (depth > maxDepth) throw depthLimit(depth, maxDepth)
    if (signal.aborted) throw aborted(name, signal.reason)

    const pending = new PendingStart(request, { runId: `run-${++this.counter}`, depth, maxDepth })
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
      const run = await provider.start(pending.request)
      if (typeof run?.dispose !== 'function' || typeof run.result?.then !== 'function') {
        throw new TypeError('it handed over something that is no run (result, dispose)')
      }
      if (!pending.withdrawn) return this.publish(run, pending, provider.name)
      run.result.then(undefined, () => {})
      await bounded(Promise.resolve(run.dispose()), this.disposeGraceMs, () => new Error('the child did not stop')).catch(this.log)
      throw aborted(provider.name, 'the provider was removed')
    } catch (error) {
      pending.release()
      throw startFailure(provider.name, pending, error)
    } finally {
      unpublished.delete(pending)
    }
  }

  private publish(run: ProviderRun, pending: PendingStart, provider: string): SubagentRun {
    const { runId, depth, parent, label, tool } = pending.request
    const info: SubagentRunInfo = Object.freeze({
      runId, provider, depth,
      ...(label === undefined ? {} : { label }),
      ...(tool === undefined ? {} : { tool }),
      parentSessionId: parent.session.id,
      ...(run.agent ? { sessionId: run.agent.session.id } : {}),
      ...(run.seed ? { seed: seedInfo(run.seed) } : {}),
      startedAt: Date.now(),
    })
    const published = new PublishedRun(this, run, info, parent, () => { pending.release() })
    this.live.add(published)
    this.notify('subagent/start', info)
    published.begin()
    return published
  }
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
