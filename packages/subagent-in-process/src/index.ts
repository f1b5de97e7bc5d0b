import type { Agent, AgentCore, AgentOptions } from '@offshoot/agent'
import type { ProviderRun, ProviderStartRequest, SubagentResult } from '@offshoot/subagent'

/** What one provider's children have that the request does not say. */
export type InProcessOptions = Pick<AgentOptions, 'session'>

/**
 * Run a child agent of `request.parent` in this process.
 *
 * The child exists when this returns; it begins its turn when the run begins, and is the run's: `dispose()` disposes it.
 *
 * @throws what `ctx.agents.create()` throws; nothing is left behind then.
 */
export function startInProcess(agents: AgentCore, request: ProviderStartRequest, { session }: InProcessOptions = {}): ProviderRun {
  const { parent, label, agentOptions, persona, toolFilter, cwd } = request
  const agent = agents.create({
    parent, session, persona, toolFilter, cwd,
    label: label ?? request.runId,
    model: agentOptions?.model,
    maxSteps: agentOptions?.maxSteps,
    maxOutputTokens: agentOptions?.maxOutputTokens,
  })
  return new InProcessRun(agent, request)
}

class InProcessRun implements ProviderRun {
  readonly agent: Agent
  readonly result: Promise<SubagentResult>
  private readonly request: ProviderStartRequest
  private resolve!: (result: SubagentResult | Promise<SubagentResult>) => void
  private begun = false

  constructor(agent: Agent, request: ProviderStartRequest) {
    this.agent = agent
    this.request = request
    this.result = new Promise(resolve => { this.resolve = resolve })
  }

  begin(): void {
    if (this.agent.state === 'disposed') {
      this.neverBegan()
      return
    }
    this.begun = true
    // Startup is over at once, so nothing but the caller's own signal has to reach the turn.
    this.resolve(this.agent.run(this.request.prompt, { signal: this.request.callerSignal }))
  }

  dispose(): Promise<void> {
    if (!this.begun) this.neverBegan()
    return this.agent.dispose()
  }

  private neverBegan(): void {
    this.resolve({
      stopReason: 'aborted', output: [], diagnostic: 'the child was disposed before it began',
      usage: { steps: 0, toolCalls: 0, durationMs: 0 },
    })
  }
}
