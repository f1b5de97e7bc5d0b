import type { AgentCore } from '@offshoot/agent'
import type { ProviderRun, ProviderStartRequest, SubagentProvider } from '@offshoot/subagent'
import { startInProcess } from '@offshoot/subagent-in-process'

/** Children that start fresh: the parent's model and working directory unless told otherwise, and no history. */
export class SpawnProvider implements SubagentProvider {
  readonly name: string
  readonly capabilities = { outputSchema: true, depthLimit: true, toolFilter: true, persona: true } as const
  readonly inheritsParentContext = false
  private readonly agents: AgentCore

  constructor(name: string, agents: AgentCore) {
    this.name = name
    this.agents = agents
  }

  async start(request: ProviderStartRequest): Promise<ProviderRun> {
    return startInProcess(this.agents, request)
  }
}
