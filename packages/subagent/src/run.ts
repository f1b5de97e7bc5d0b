import type { Agent } from '@offshoot/agent'
import { textOf } from '@offshoot/session'
import { bounded } from './bounded.ts'
import type { SubagentCore } from './core.ts'
import { SubagentError } from './error.ts'
import { cleanDiagnostic, failureText } from './failure-text.ts'
import type { ProviderRun, SubagentResult, SubagentRun, SubagentRunInfo } from './types.ts'

/** A published run: settles once whatever its provider does, and bounds its disposal. */
export class PublishedRun implements SubagentRun {
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
  private settled = false
  private release: (() => void) | undefined
  private gone: Promise<void> | undefined

  constructor(core: SubagentCore, run: ProviderRun, info: SubagentRunInfo, parent: Agent, release: () => void) {
    this.core = core
    this.run = run
    this.info = info
    this.parent = parent
    this.release = release
    this.id = info.runId
    this.provider = info.provider
    if (run.agent) this.agent = run.agent
    this.result = new Promise(resolve => { this.resolve = resolve })
  }

  /** Called once `subagent/start` was sent. */
  begin(): void {
    this.run.result.then(
      result => { this.settle(checked(result, this.provider)) },
      (error: unknown) => { this.settle(failed('error', `the provider's result rejected: ${failureText(error)}`)) },
    )
    try {
      this.run.begin?.()
    } catch (error) {
      this.settle(failed('error', `the child could not begin: ${failureText(error)}`))
    }
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
      if (!this.settled) await this.lastChance()
      core.live.delete(this)
    }
  }

  // The provider may settle just after its disposal does; one that never settles is settled for it.
  private async lastChance(): Promise<void> {
    await new Promise<void>(resolve => { setImmediate(resolve) })
    this.settle(failed('aborted', 'the run was disposed, and its provider did not say how it ended'))
  }

  private settle(result: SubagentResult): void {
    if (this.settled) return
    this.settled = true
    this.release?.()
    this.release = undefined
    if (this.state === 'running') this.core.live.delete(this)
    this.core.notify('subagent/end', this.info, result)
    this.resolve(result)
  }
}

/** A provider's result, held to its own contract. */
function checked(result: SubagentResult, provider: string): SubagentResult {
  if (!isResult(result)) {
    return failed('error', `subagent provider "${provider}" settled with something that is no result`)
  }
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

function isEmpty(output: SubagentResult['output']): boolean {
  return !output.some(block => block.type === 'file') && textOf(output).trim() === ''
}

function failed(stopReason: 'error' | 'aborted', diagnostic: string): SubagentResult {
  return { stopReason, output: [], diagnostic: cleanDiagnostic(diagnostic), usage: { steps: 0, toolCalls: 0, durationMs: 0 } }
}
