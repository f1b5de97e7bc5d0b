import type { Agent, AgentCore, AgentOptions } from '@offshoot/agent'
import { answerTool, type ProviderRun, type ProviderStartRequest, type SubagentResult } from '@offshoot/subagent'

/** What one provider's children have that the request does not say, or in place of what it says. */
export interface InProcessOptions extends Pick<AgentOptions, 'session' | 'persona' | 'toolFilter' | 'tools'> {
  /** The child's first user message. */
  readonly prompt?: ProviderStartRequest['prompt']
}

/** A child of this process, from its start to its disposal. */
export interface InProcessRun extends ProviderRun {
  readonly agent: Agent
}

/**
 * Run a child agent of `request.parent` in this process.
 *
 * The child exists when this returns; it begins its turn when the run begins, and is the run's: `dispose()` disposes it.
 *
 * @throws what `ctx.agents.create()` throws; nothing is left behind then.
 */
export function startInProcess(agents: AgentCore, request: ProviderStartRequest, own: InProcessOptions = {}): InProcessRun {
  const { parent, label, agentOptions, cwd, outputSchema } = request
  const agent = agents.create({
    parent, cwd,
    session: own.session,
    tools: own.tools,
    answer: outputSchema && answerTool(outputSchema),
    persona: own.persona ?? request.persona,
    toolFilter: own.toolFilter ?? request.toolFilter,
    label: label ?? request.runId,
    model: agentOptions?.model,
    maxSteps: agentOptions?.maxSteps,
    maxOutputTokens: agentOptions?.maxOutputTokens,
  })
  return new ChildRun(agent, own.prompt ?? request.prompt, request.callerSignal)
}

class ChildRun implements InProcessRun {
  readonly agent: Agent
  readonly result: Promise<SubagentResult>
  private readonly prompt: ProviderStartRequest['prompt']
  private readonly signal: AbortSignal
  private resolve!: (result: SubagentResult | Promise<SubagentResult>) => void
  private begun = false

  constructor(agent: Agent, prompt: ProviderStartRequest['prompt'], signal: AbortSignal) {
    this.agent = agent
    this.prompt = prompt
    this.signal = signal
    this.result = new Promise(resolve => { this.resolve = resolve })
  }

  begin(): void {
    if (this.agent.state === 'disposed') {
      this.neverBegan()
      return
    }
    this.begun = true
    // Startup is over at once, so nothing but the caller's own signal has to reach the turn. What the child runs in
    // the background belongs to its run, and so does the turn that reads it.
    this.resolve(this.agent.runToQuiet(this.prompt, { signal: this.signal }))
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
