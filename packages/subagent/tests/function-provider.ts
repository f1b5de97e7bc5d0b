import type { ProviderRun, ProviderStartRequest, SubagentProvider, SubagentResult } from '@offshoot/subagent'
import type { Context } from 'cordis'

export const name = 'subagent-function'
export const inject = ['subagents']

/** A child: it works on the task, stops when `signal` aborts, and says how it ended. */
export type Work = (task: string, signal: AbortSignal) => Promise<SubagentResult>

export function apply(ctx: Context, config: { work: Work }): void {
  ctx.subagents.registerProvider(new FunctionProvider(config.work))
}

class FunctionProvider implements SubagentProvider {
  readonly name = 'function'
  readonly capabilities = { outputSchema: false, depthLimit: false, toolFilter: false, persona: false }
  readonly inheritsParentContext = false
  private readonly work: Work

  constructor(work: Work) {
    this.work = work
  }

  async start(request: ProviderStartRequest): Promise<ProviderRun> {
    const { prompt } = request
    if (typeof prompt !== 'string') throw new Error('its children take text alone')
    const stop = new AbortController()
    const signal = AbortSignal.any([request.signal, stop.signal])
    let begin!: () => void
    const begun = new Promise<void>(resolve => { begin = resolve })
    const result = begun.then(() => this.run(prompt, signal))
    return {
      result,
      begin,
      async dispose() {
        stop.abort()
        begin()
        await result
      },
    }
  }

  private async run(task: string, signal: AbortSignal): Promise<SubagentResult> {
    try {
      signal.throwIfAborted()
      return await this.work(task, signal)
    } catch (error) {
      const usage = { steps: 0, toolCalls: 0, durationMs: 0 }
      return { stopReason: signal.aborted ? 'aborted' : 'error', output: [], diagnostic: String(error), usage }
    }
  }
}
