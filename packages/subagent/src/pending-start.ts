import { onAbort } from '@offshoot/agent'
import type { Slot } from './slot.ts'
import type { ProviderStartRequest, SubagentRun, SubagentStartRequest } from './types.ts'

/** A start that has not handed over its child yet. It can be withdrawn; afterwards the child is its caller's. */
export class PendingStart {
  readonly request: ProviderStartRequest
  readonly slot: Slot
  /** Its provider's name. */
  readonly provider: string
  readonly startedAt: number = Date.now()
  /** Why it was withdrawn, if it was. */
  withdrawn: Error | undefined
  /** Settles with the start as a whole, cleaning up included. */
  done: Promise<SubagentRun> | undefined
  private readonly callerSignal: AbortSignal
  private controller: AbortController | undefined
  private unlink: (() => void) | undefined
  private released = false
  /** The call that asked waits no longer. */
  private readonly waited: () => void

  constructor(request: SubagentStartRequest, slot: Slot, waited: () => void, own: Pick<ProviderStartRequest, 'runId' | 'depth' | 'maxDepth' | 'disposeGraceMs'> & { readonly provider: string }) {
    this.waited = waited
    this.provider = own.provider
    this.slot = slot
    const { prompt, parent, label, tool, agentOptions, persona, toolFilter, cwd, outputSchema, timeoutMs, signal: callerSignal } = request
    this.callerSignal = callerSignal
    // oxlint-disable-next-line typescript/no-this-alias -- the accessor below is the request's, not this object's
    const pending = this
    this.request = {
      prompt, parent, label, tool, agentOptions, persona, toolFilter, cwd, outputSchema, timeoutMs, callerSignal,
      runId: own.runId, depth: own.depth, maxDepth: own.maxDepth, disposeGraceMs: own.disposeGraceMs,
      // Own and enumerable, so that `{ ...request }` keeps it; made only for providers that ask for it.
      get signal() { return pending.signal() },
    }
  }

  /** The provider was removed: a child that is not there yet must not come. */
  withdraw(reason: Error): void {
    this.withdrawn = reason
    this.controller?.abort(reason)
  }

  /** Let go of the caller's signal: the run has ended, or never was. */
  release(): void {
    this.released = true
    this.waited()
    this.unlink?.()
    this.unlink = undefined
  }

  private signal(): AbortSignal {
    if (this.controller) return this.controller.signal
    const controller = this.controller = new AbortController()
    const { callerSignal } = this
    if (this.withdrawn) controller.abort(this.withdrawn)
    else if (callerSignal.aborted) controller.abort(callerSignal.reason)
    else if (!this.released) this.unlink = onAbort(callerSignal, () => { controller.abort(callerSignal.reason) })
    return controller.signal
  }
}
