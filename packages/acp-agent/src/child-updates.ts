import type { Agent, AgentEvent } from '@offshoot/agent'
import type { SubagentResult, SubagentRunInfo } from '@offshoot/subagent'
import type { Context } from 'cordis'
import { textContent, type Send } from './updates.ts'

/** A child, as the client sees it: in the tool call that asked for it, or, where that did not wait, as one of its own. */
interface Shown {
  readonly info: SubagentRunInfo
  readonly toolCallId: string
  doing: string
}

/** Tells a client what the children below one agent do: each as the progress of a tool call. */
export class ChildUpdates {
  private readonly root: Agent
  private readonly send: Send
  private readonly bySession = new Map<string, Shown>()
  private readonly leave: (() => void)[]

  constructor(ctx: Context, root: Agent, send: Send) {
    this.root = root
    this.send = send
    this.leave = [
      ctx.on('subagent/start', info => { this.started(info) }),
      ctx.on('subagent/end', (info, result) => { this.ended(info, result) }),
      ctx.on('agent/created', agent => { agent.on(event => { this.heard(agent, event) }) }),
    ]
  }

  close(): void {
    for (const leave of this.leave) leave()
  }

  private started(info: SubagentRunInfo): void {
    const { runId, tool, label, provider, sessionId, parentSessionId } = info
    const isOurs = parentSessionId === this.root.session.id || this.bySession.has(parentSessionId)
    if (!isOurs) return
    const waits = tool !== undefined && tool.taskId === undefined && parentSessionId === this.root.session.id
    const shown: Shown = { info, toolCallId: waits ? tool.callId : runId, doing: '' }
    if (!waits) this.send({ sessionUpdate: 'tool_call', toolCallId: runId, title: `${tool?.name ?? provider}: ${label ?? runId}`, kind: 'other', status: 'in_progress' })
    this.bySession.set(sessionId ?? runId, shown)
    this.tell(shown, 'started')
  }

  private ended({ runId, sessionId }: SubagentRunInfo, { stopReason, diagnostic }: SubagentResult): void {
    const shown = this.bySession.get(sessionId ?? runId)
    if (!shown) return
    this.bySession.delete(sessionId ?? runId)
    const how = diagnostic === undefined ? stopReason : `${stopReason}: ${diagnostic}`
    if (shown.toolCallId === runId) this.send({ sessionUpdate: 'tool_call_update', toolCallId: runId, status: stopReason === 'completed' ? 'completed' : 'failed', content: [textContent(how)] })
    else this.tell(shown, how)
  }

  private heard(agent: Agent, event: AgentEvent): void {
    const shown = this.bySession.get(agent.session.id)
    if (!shown) return
    if (event.type === 'step-start') this.tell(shown, `step ${event.step}`)
    else if (event.type === 'tool-start') this.tell(shown, `runs ${event.name}`)
  }

  private tell(shown: Shown, doing: string): void {
    if (shown.doing === doing) return
    shown.doing = doing
    const { runId, label } = shown.info
    this.send({ sessionUpdate: 'tool_call_update', toolCallId: shown.toolCallId, content: [textContent(`${runId}${label === undefined ? '' : ` "${label}"`}: ${doing}`)] })
  }
}
