import type { Agent, TurnCut } from '@offshoot/agent'
import { noUsage, textOf } from '@offshoot/session'
import { bounded } from './bounded.ts'
import type { SubagentCore } from './core.ts'
import type { Watched } from './deadlines.ts'
import { SubagentError } from './error.ts'
import { cleanDiagnostic, failureText } from './failure-text.ts'
import { compileOutputSchema, type JsonSchema } from './output-schema.ts'
import type { PendingStart } from './pending-start.ts'
import { structured } from './structured.ts'
import type { ChildProgress, ProviderRun, SubagentResult, SubagentRun, SubagentRunInfo } from './types.ts'

/** A published run: settles once whatever its provider does, and bounds its disposal. */
export class PublishedRun implements SubagentRun, Watched {
  readonly id: string
  readonly provider: string
  readonly agent?: Agent
  readonly result: Promise<SubagentResult>
  readonly info: SubagentRunInfo
  readonly parent: Agent
  state: 'running' | 'settling' = 'running'
  private readonly core: SubagentCore
  private readonly run: ProviderRun
  private resolve!: (result: SubagentResult) => void
  readonly timeoutMs: number | undefined
  readonly idleMs: number | undefined
  readonly isHeard: boolean
  /** It has reached its outcome. */
  isSettled = false
  private readonly pending: PendingStart
  private expired: TurnCut | undefined
  private expiry: NodeJS.Timeout | undefined
  private gone: Promise<void> | undefined

  constructor(core: SubagentCore, run: ProviderRun, info: SubagentRunInfo, pending: PendingStart, timeoutMs: number | undefined) {
    this.core = core
    this.run = run
    this.info = info
    this.pending = pending
    this.parent = pending.request.parent
    this.timeoutMs = timeoutMs
    this.idleMs = run.deadlines?.idleMs
    this.isHeard = run.agent !== undefined || 'progress' in run
    this.id = info.runId
    this.provider = info.provider
    if (run.agent) this.agent = run.agent
    this.result = new Promise(resolve => { this.resolve = resolve })
  }

  /** Milliseconds since the epoch. */
  get startedAt(): number {
    return this.info.startedAt
  }

  /** What the child does now, where that can be seen. */
  get progress(): ChildProgress | undefined {
    return this.agent ? this.agent.progress : this.run.progress
  }

  /** Called once `subagent/start` was sent. */
  begin(): void {
    this.run.result.then(
      result => { this.settle(checked(result, this.provider, this.pending.request.outputSchema)) },
      (error: unknown) => { this.settle(failed('error', `the provider's result rejected: ${failureText(error)}`)) },
    )
    try {
      this.run.begin?.()
    } catch (error) {
      this.settle(failed('error', `the child could not begin: ${failureText(error)}`))
    }
  }

  /** A deadline has passed: end the child, and settle without it where it does not end. */
  expire(cut: TurnCut): void {
    // One that is cancelled, or being disposed, ends for that reason.
    if (this.isSettled || this.expired || this.state === 'settling' || this.pending.request.callerSignal.aborted) return
    this.expired = cut
    const reason = new Error(cut.diagnostic)
    this.pending.withdraw(reason)
    this.agent?.abort(reason, { scope: 'tree' })
    this.expiry = setTimeout(() => { this.settle(failed('aborted', `${cut.diagnostic}; it did not stop`)) }, this.core.disposeGraceMs)
  }

  dispose(): Promise<void> {
    if (!this.gone) {
      this.gone = this.close()
      // It is logged; a caller that does not look must not bring the process down.
      this.gone.catch(() => {})
    }
    return this.gone
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose()
  }

  private async close(): Promise<void> {
    const { core, run, provider, id } = this
    this.state = 'settling'
    // One that has ended is live again while it cleans up.
    core.live.add(this)
    try {
      await bounded(Promise.resolve(run.dispose()), core.disposeGraceMs, () => new Error(`not quiet after ${core.disposeGraceMs} ms`))
    } catch (cause) {
      const error = new SubagentError('DISPOSE_FAILED', `disposing ${id} of subagent provider "${provider}" failed: ${failureText(cause)}`, { cause })
      core.log(error)
      throw error
    } finally {
      if (!this.isSettled) await this.lastChance()
      core.live.delete(this)
    }
  }

  // The provider may settle just after its disposal does; one that never settles is settled for it.
  private async lastChance(): Promise<void> {
    await new Promise<void>(resolve => { setImmediate(resolve) })
    this.settle(failed('aborted', 'the run was disposed, and its provider did not say how it ended'))
  }

  private settle(result: SubagentResult): void {
    if (this.isSettled) return
    this.isSettled = true
    clearTimeout(this.expiry)
    const { core, pending, expired, agent } = this
    pending.release()
    core.deadlines.unwatch(this)
    pending.slot.free()
    if (this.state === 'running') core.live.delete(this)
    const own = result.usage === noUsage ? agent?.usage ?? { ...this.run.progress?.usage ?? noUsage, durationMs: Date.now() - this.startedAt } : result.usage
    const settled: SubagentResult = {
      ...result,
      ...(expired && result.stopReason === 'aborted' ? { stopReason: expired.stopReason, diagnostic: both(expired.diagnostic, result.diagnostic) } : {}),
      usage: own,
      totalUsage: core.account.close(this, own),
    }
    core.notify('subagent/end', this.info, settled)
    this.resolve(settled)
  }
}

/** A provider's result, held to its own contract. */
function checked(given: SubagentResult, provider: string, schema: JsonSchema | undefined): SubagentResult {
  if (!isResult(given)) {
    return failed('error', `subagent provider "${provider}" settled with something that is no result`)
  }
  const result = schema ? structured(given, compileOutputSchema(schema)) : given
  if (result.stopReason === 'completed' && isEmpty(result.output)) {
    return { ...result, stopReason: 'empty-output', diagnostic: 'the child ended without output' }
  }
  return result.diagnostic === undefined ? result : { ...result, diagnostic: cleanDiagnostic(result.diagnostic) }
}

function isResult(result: SubagentResult | undefined): boolean {
  return typeof result?.stopReason === 'string' && typeof result.usage === 'object' && result.usage !== null
    && (result.diagnostic === undefined || typeof result.diagnostic === 'string')
    && Array.isArray(result.output) && result.output.every(block => typeof block?.type === 'string')
}

/** Why it was ended, and what its provider saw of that. */
function both(reason: string, diagnostic: string | undefined): string {
  return diagnostic === undefined || diagnostic.includes(reason) ? diagnostic ?? reason : cleanDiagnostic(`${reason}; ${diagnostic}`)
}

function isEmpty(output: SubagentResult['output']): boolean {
  return !output.some(block => block.type === 'file') && textOf(output).trim() === ''
}

function failed(stopReason: 'error' | 'aborted', diagnostic: string): SubagentResult {
  return { stopReason, output: [], diagnostic: cleanDiagnostic(diagnostic), usage: noUsage }
}
