import type { AgentCore } from '@offshoot/agent'
import type { Context } from 'cordis'
import { answerTool, type ProviderRun, type ProviderStartRequest, type SubagentProvider, type SubagentResult } from '../src/index.ts'

/** As little as a provider can be and still keep every promise. Tests break one part of it at a time. */
export class SmallProvider implements SubagentProvider {
  readonly name: string = 'small'
  readonly capabilities = { outputSchema: true, depthLimit: true, toolFilter: true, persona: true }
  readonly inheritsParentContext: boolean = false
  protected readonly agents: AgentCore

  constructor(agents: AgentCore) {
    this.agents = agents
  }

  async start(request: ProviderStartRequest): Promise<ProviderRun> {
    const { parent, persona, toolFilter, outputSchema, agentOptions, prompt, signal } = request
    const agent = this.agents.create({ parent, persona, toolFilter, model: agentOptions?.model, answer: outputSchema && answerTool(outputSchema) })
    let begun: Promise<SubagentResult> | undefined
    let resolve!: (result: SubagentResult | Promise<SubagentResult>) => void
    const result = new Promise<SubagentResult>(done => { resolve = done })
    return {
      agent,
      result,
      begin() { resolve(begun = agent.state === 'disposed' ? Promise.resolve(ended('aborted')) : agent.run(prompt, { signal })) },
      async dispose() {
        if (!begun) resolve(ended('aborted'))
        await agent.dispose()
      },
    }
  }
}

export function ended(stopReason: SubagentResult['stopReason'], text = ''): SubagentResult {
  return { stopReason, output: text === '' ? [] : [{ type: 'text', text }], usage: { steps: 0, toolCalls: 0, durationMs: 0 } }
}

/** A plugin that registers what `make` makes. */
export function pluginFor(make: (agents: AgentCore) => SubagentProvider): { name: string, inject: string[], apply(ctx: Context): void } {
  return {
    name: 'provider-under-test',
    inject: ['agents', 'subagents'],
    apply(ctx) { ctx.subagents.registerProvider(make(ctx.agents.core)) },
  }
}
