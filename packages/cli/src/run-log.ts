import type { Agent } from '@offshoot/agent'
import type { SubagentResult, SubagentRunInfo } from '@offshoot/subagent'
import type { Context } from 'cordis'
import { watchAgents } from './agent-events.ts'

/** One delegation, as far as it has come. */
export interface LoggedRun {
  readonly info: SubagentRunInfo
  readonly children: LoggedRun[]
  result?: SubagentResult
}

/** Everything that was delegated below one agent. */
export class RunLog {
  readonly root: Agent
  /** Those that the root itself started, oldest first. */
  readonly runs: LoggedRun[] = []
  /** When the latest rate limit of each session ends, at the earliest, in milliseconds since the epoch. */
  readonly retryAt: Map<string, number> = new Map()
  private readonly byId = new Map<string, LoggedRun>()
  private readonly bySession = new Map<string, LoggedRun>()

  constructor(ctx: Context, root: Agent) {
    this.root = root
    ctx.on('subagent/start', info => { this.start(info) })
    ctx.on('subagent/end', (info, result) => {
      const run = this.byId.get(info.runId)
      if (run) run.result = result
    })
    watchAgents(ctx, root, ({ session }, event) => {
      if (event.type === 'rate-limit') this.retryAt.set(session.id, event.retryAt)
    })
  }

  /** How many runs there were, at every depth. */
  get size(): number {
    return this.byId.size
  }

  /** Who an agent is: `main`, or the run that it is. */
  nameOf(agent: Agent): string {
    return agent === this.root ? 'main' : this.bySession.get(agent.session.id)?.info.runId ?? agent.label
  }

  private start(info: SubagentRunInfo): void {
    const run: LoggedRun = { info, children: [] }
    this.byId.set(info.runId, run)
    if (info.sessionId !== undefined) this.bySession.set(info.sessionId, run)
    const siblings = this.bySession.get(info.parentSessionId)?.children ?? this.runs
    siblings.push(run)
  }
}
