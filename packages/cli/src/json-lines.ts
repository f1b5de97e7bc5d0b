import type { Agent, AgentEvent, TurnResult } from '@offshoot/agent'
import { textOf } from '@offshoot/session'
import type { Context } from 'cordis'
import { watchAgents } from './agent-events.ts'
import type { Io } from './io.ts'
import type { RunLog } from './run-log.ts'

/** What happens, one JSON object a line. The last line is `result`. */
export class JsonLines {
  private readonly out: Io['stdout']

  constructor(ctx: Context, root: Agent, log: RunLog, out: Io['stdout']) {
    this.out = out
    ctx.on('subagent/start', info => { this.line({ type: 'subagent-start', ...info }) })
    ctx.on('subagent/end', (info, { output, ...result }) => {
      this.line({ type: 'subagent-end', ...info, ...result, output: textOf(output) })
    })
    watchAgents(ctx, root, (agent, event) => {
      const shown = shownEvent(event)
      if (shown) this.line({ ...shown, agent: log.nameOf(agent) })
    })
  }

  end({ output, ...result }: TurnResult): void {
    this.line({ type: 'result', ...result, output: textOf(output) })
  }

  private line(event: object): void {
    this.out.write(`${JSON.stringify(event)}\n`)
  }
}

function shownEvent(event: AgentEvent): object | undefined {
  switch (event.type) {
    case 'step-start':
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-start':
    case 'tool-progress':
      return event
    case 'tool-end':
      return { type: event.type, callId: event.callId, name: event.name, isError: event.result.isError }
    case 'turn-start':
    case 'turn-end':
      // The same as the run's own events, and `result`.
      return undefined
  }
}
