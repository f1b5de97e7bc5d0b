import type { Agent, AgentEvent, TurnResult } from '@offshoot/agent'
import { textOf, type Usage } from '@offshoot/session'
import type { Task } from '@offshoot/tasks'
import type { Context } from 'cordis'
import { watchAgents } from './agent-events.ts'
import type { CutTask } from './cut.ts'
import type { Writer } from './io.ts'
import type { RunLog } from './run-log.ts'

/** What happens, one JSON object a line. The last line is `result`. */
export class JsonLines {
  private readonly log: RunLog
  private readonly out: Writer

  constructor(ctx: Context, root: Agent, log: RunLog, out: Writer) {
    this.log = log
    this.out = out
    ctx.on('subagent/start', info => { this.line({ type: 'subagent-start', ...info }) })
    ctx.on('subagent/end', (info, { output, ...result }) => {
      this.line({ type: 'subagent-end', ...info, ...result, output: textOf(output) })
    })
    ctx.on('task/started', task => { this.line({ type: 'task-started', ...this.shownTask(task) }) })
    ctx.on('task/settled', task => {
      const { outcome, reason, settledAt } = task
      this.line({ type: 'task-settled', ...this.shownTask(task), ...outcome, reason, settledAt })
    })
    ctx.on('approval/asked', ({ id, path, askedAt, expiresAt, request: { agent, asker, tool, effect, summary } }) => {
      this.line({ type: 'approval-asked', approvalId: id, agent: log.nameOf(agent), asker, path, tool, effect, summary, askedAt, expiresAt })
    })
    ctx.on('approval/settled', ({ id }, verdict) => { this.line({ type: 'approval-settled', approvalId: id, ...verdict }) })
    watchAgents(ctx, root, (agent, event) => {
      const shown = shownEvent(event)
      if (shown) this.line({ ...shown, agent: log.nameOf(agent) })
    })
  }

  end({ output, ...result }: TurnResult, totalUsage: Usage, cut: readonly CutTask[]): void {
    this.line({ type: 'result', ...result, totalUsage, output: textOf(output), ...(cut.length > 0 ? { cut } : {}) })
  }

  private shownTask({ id, kind, label, owner, startedAt }: Task): object {
    return { taskId: id, kind, label, agent: this.log.nameOf(owner), startedAt }
  }

  private line(event: object): void {
    this.out.write(`${JSON.stringify(event)}\n`)
  }
}

function shownEvent(event: AgentEvent): object | undefined {
  switch (event.type) {
    case 'turn-start':
    case 'step-start':
    case 'rate-limit':
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-start':
    case 'tool-progress':
      return event
    case 'tool-end':
      return { type: event.type, callId: event.callId, name: event.name, isError: event.result.isError }
    case 'turn-end':
      // The same as the run's own events, and `result`.
      return undefined
  }
}
