import type { Agent, AgentEvent } from '@offshoot/agent'
import type { Approval, Verdict } from '@offshoot/approvals'
import type { SubagentResult, SubagentRunInfo } from '@offshoot/subagent'
import type { Task } from '@offshoot/tasks'
import type { Context } from 'cordis'
import { watchAgents } from './agent-events.ts'
import type { Writer } from './io.ts'
import type { RunLog } from './run-log.ts'
import { describeRun } from './tree.ts'
import { duration, oneLine, plural } from './wording.ts'

const argumentWidth = 60

/** Progress as plain lines: each child as it starts and ends, each other tool and background task, and what agents are told. */
export class ProgressLines {
  private readonly log: RunLog
  private readonly out: Writer
  private queue: { readonly text: string, readonly callId?: string }[] = []
  private timer: NodeJS.Immediate | undefined
  /** Tasks that run as a child: its own lines tell of them. */
  private readonly children = new Set<string>()
  /** Settled tasks that their owners may not have heard of. */
  private readonly untold = new Set<Task>()

  constructor(ctx: Context, root: Agent, log: RunLog, out: Writer) {
    this.log = log
    this.out = out
    ctx.on('subagent/start', info => { this.started(info) })
    ctx.on('subagent/end', (info, result) => { this.ended(info, result) })
    ctx.on('task/settled', task => { this.settled(task) })
    ctx.on('approval/settled', (approval, verdict) => { this.decided(approval, verdict) })
    ctx.on('task/orphaned', task => { this.untold.delete(task) })
    watchAgents(ctx, root, (agent, event) => { this.heard(agent, event) })
  }

  /** Write what is still held back. */
  flush(): void {
    clearImmediate(this.timer)
    this.timer = undefined
    if (this.queue.length > 0) this.out.write(this.queue.splice(0).map(({ text }) => text).join(''))
  }

  private heard(agent: Agent, event: AgentEvent): void {
    if (event.type === 'step-start') {
      this.tell(agent)
    } else if (event.type === 'tool-start') {
      this.line(agent.depth, `${this.log.nameOf(agent)}: ${event.name}${argumentsText(event.args)}`, event.callId)
    } else if (event.type === 'tool-end' && event.result.isError) {
      const [block] = event.result.content
      this.line(agent.depth, `${this.log.nameOf(agent)}: ${event.name}: ${oneLine(block?.type === 'text' ? block.text : 'Error')}`)
    }
  }

  private started(info: SubagentRunInfo): void {
    // A delegation shows as its child, which is there at once unless its start takes time.
    this.queue = this.queue.filter(({ callId }) => callId === undefined || callId !== info.tool?.callId)
    if (info.tool?.taskId !== undefined) this.children.add(info.tool.taskId)
    this.line(info.depth - 1, `${describeRun(info)} started${inherited(info)}`)
  }

  private ended(info: SubagentRunInfo, { stopReason, usage, diagnostic }: SubagentResult): void {
    const reason = diagnostic === undefined ? '' : `: ${oneLine(diagnostic, Infinity)}`
    this.line(info.depth - 1, `${describeRun(info)} ${stopReason}${reason} (${duration(usage.durationMs)})`)
  }

  private settled(task: Task): void {
    this.untold.add(task)
    if (this.children.delete(task.id)) return
    const reason = task.outcome?.status === 'failed' ? task.outcome.error : task.reason
    const took = duration((task.settledAt ?? Date.now()) - task.startedAt)
    this.line(task.owner.depth, `${task.id} "${oneLine(task.label)}" ${task.status}${reason === undefined ? '' : `: ${oneLine(reason)}`} (${took})`)
  }

  private decided({ id, request: { agent, asker, tool } }: Approval, verdict: Verdict): void {
    this.line(agent.depth, `${oneLine(asker ?? this.log.nameOf(agent))}: ${oneLine(tool)} ${verdict.allowed ? 'allowed' : `refused: ${oneLine(verdict.reason)}`} (${id})`)
  }

  /** A step begins, and with it the agent has heard of what was waiting for it. */
  private tell(agent: Agent): void {
    if (this.untold.size === 0) return
    const told: string[] = []
    for (const task of this.untold) {
      if (task.owner !== agent || task.delivery === 'undelivered') continue
      this.untold.delete(task)
      if (task.delivery === 'delivered') told.push(`${task.id} ${task.status}`)
    }
    if (told.length > 0) this.line(agent.depth, `${this.log.nameOf(agent)}: told of ${told.join(', ')}`)
  }

  private line(depth: number, text: string, callId?: string): void {
    this.queue.push({ text: `${'  '.repeat(Math.max(0, depth - this.log.root.depth))}${text}\n`, ...(callId === undefined ? {} : { callId }) })
    this.timer ??= setImmediate(() => { this.flush() })
  }
}

/** What a child knows of the conversation, and whether that has to be paid for anew. */
function inherited({ seed }: SubagentRunInfo): string {
  if (!seed) return ''
  const steps = seed.steps === 0 ? '' : ` and ${plural(seed.steps, 'step')}`
  return `, knows ${plural(seed.turns, 'turn')}${steps}${seed.coldCache ? ` (cold cache: ${seed.moved.join(', ')})` : ''}`
}

function argumentsText(args: Record<string, unknown> | undefined): string {
  const values = Object.values(args ?? {}).filter(value => typeof value === 'string' || typeof value === 'number')
  return values.length === 0 ? '' : ` ${oneLine(values.join(' '), argumentWidth)}`
}
