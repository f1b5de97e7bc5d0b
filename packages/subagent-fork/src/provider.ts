import type { AgentCore } from '@offshoot/agent'
import type { SessionCore } from '@offshoot/session'
import type { ProviderRun, ProviderStartRequest, SubagentProvider, SubagentSeed } from '@offshoot/subagent'
import { startInProcess } from '@offshoot/subagent-in-process'
import { movedParts, type SeedKind, seedPoint } from './seed.ts'
import { placePin, rolePin, stepsWording, structuredPin } from './wording.ts'

/** Children that know the conversation so far: their requests begin as their parent's do, to the byte, so caches of it fit. */
export class ForkProvider implements SubagentProvider {
  readonly name: string
  readonly capabilities = { outputSchema: true, depthLimit: true, toolFilter: true, persona: true } as const
  readonly inheritsParentContext = true
  readonly toolWording?: NonNullable<SubagentProvider['toolWording']>
  private readonly seed: SeedKind
  private readonly agents: AgentCore
  private readonly sessions: SessionCore

  constructor({ name, seed }: { readonly name: string, readonly seed: SeedKind }, agents: AgentCore, sessions: SessionCore) {
    this.name = name
    this.seed = seed
    if (seed === 'steps') this.toolWording = stepsWording
    this.agents = agents
    this.sessions = sessions
  }

  // The seed is taken before anything is awaited: at the moment of the call.
  async start(request: ProviderStartRequest): Promise<ProviderRun> {
    const { parent, depth, cwd = parent.cwd } = request
    const { length, turns, steps } = seedPoint(parent, this.seed)
    const run = startInProcess(this.agents, request, {
      session: this.sessions.fork(parent.session, { parent: parent.session.id, depth, cwd }, length),
      persona: request.persona ?? parent.persona,
      toolFilter: request.toolFilter ?? parent.toolFilter,
      tools: parent.ownTools,
      prompt: pinned(request),
    })
    const seed: SubagentSeed = { turns, steps, moved: movedParts(run.agent, parent, request) }
    return Object.assign(run, { seed })
  }
}

/** The child's first user message: whose turn it is now, then the task. */
function pinned({ prompt, outputSchema, cwd, parent }: ProviderStartRequest): ProviderStartRequest['prompt'] {
  const role = outputSchema ? structuredPin : rolePin
  // Elsewhere than where the conversation took place, its paths lead astray.
  const pin = cwd === undefined || cwd === parent.cwd ? role : `${role} ${placePin(cwd)}`
  if (typeof prompt === 'string') return `${pin}\n\n${prompt}`
  return [{ type: 'text', text: `${pin}\n\n` }, ...prompt]
}
