import type { Agent, AgentEvent } from '@offshoot/agent'
import type { SubagentResult, SubagentRunInfo } from '@offshoot/subagent'
import type { Context } from 'cordis'
import { watchAgents } from './agent-events.ts'
import type { Io } from './io.ts'
import type { RunLog } from './run-log.ts'
import { describeRun, duration, oneLine } from './tree.ts'

const argumentWidth = 60

/** Progress as plain lines: each child as it starts and ends, and each other tool that runs. */
export class ProgressLines {
  private readonly log: RunLog
  private readonly out: Io['stderr']
  private queue: { readonly text: string, readonly callId?: string }[] = []
  private timer: NodeJS.Immediate | undefined

  constructor(ctx: Context, root: Agent, log: RunLog, out: Io['stderr']) {
    this.log = log
    this.out = out
    ctx.on('subagent/start', info => { this.started(info) })
    ctx.on('subagent/end', (info, result) => { this.ended(info, result) })
    watchAgents(ctx, root, (agent, event) => { this.heard(agent, event) })
  }

  /** Write what is still held back. */
  flush(): void {
    clearImmediate(this.timer)
    this.timer = undefined
    if (this.queue.length > 0) this.out.write(this.queue.splice(0).map(({ text }) => text).join(''))
  }

  private heard(agent: Agent, event: AgentEvent): void {
    if (event.type === 'tool-start') {
      this.line(agent.depth, `${this.log.nameOf(agent)}: ${event.name}${argumentsText(event.args)}`, event.callId)
    } else if (event.type === 'tool-end' && event.result.isError) {
      const [block] = event.result.content
      this.line(agent.depth, `${this.log.nameOf(agent)}: ${event.name}: ${oneLine(block?.type === 'text' ? block.text : 'Error')}`)
    }
  }

  private started(info: SubagentRunInfo): void {
    // A delegation shows as its child, which is there at once unless its start takes time.
    this.queue = this.queue.filter(({ callId }) => callId === undefined || callId !== info.tool?.callId)
    this.line(info.depth - 1, `${describeRun(info)} started`)
  }

  private ended(info: SubagentRunInfo, { stopReason, usage, diagnostic }: SubagentResult): void {
    const reason = diagnostic === undefined ? '' : `: ${oneLine(diagnostic, Infinity)}`
    this.line(info.depth - 1, `${describeRun(info)} ${stopReason}${reason} (${duration(usage.durationMs)})`)
  }

  private line(depth: number, text: string, callId?: string): void {
    this.queue.push({ text: `${'  '.repeat(depth)}${text}\n`, ...(callId === undefined ? {} : { callId }) })
    this.timer ??= setImmediate(() => { this.flush() })
  }
}

function argumentsText(args: Record<string, unknown> | undefined): string {
  const values = Object.values(args ?? {}).filter(value => typeof value === 'string' || typeof value === 'number')
  return values.length === 0 ? '' : ` ${oneLine(values.join(' '), argumentWidth)}`
}
