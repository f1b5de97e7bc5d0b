import type { AgentContext, PermissionOption } from '@agentclientprotocol/sdk'
import type { Agent } from '@offshoot/agent'
import type { Approval, ApprovalCore, Attendant, Verdict } from '@offshoot/approvals'
import { describeCall } from './tool-call.ts'

const options = (tool: string): PermissionOption[] => [
  { optionId: 'allow-once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'allow-always', name: `Always allow ${tool} in this session`, kind: 'allow_always' },
  { optionId: 'reject-once', name: 'Reject', kind: 'reject_once' },
]

/** Puts what waits for an approval below one agent before the client, each at once: the client queues them. */
export class ClientPermissions implements Attendant {
  private readonly client: AgentContext
  private readonly sessionId: string
  private readonly open = new Map<Approval, AbortController>()
  private readonly leave: () => void

  constructor(approvals: ApprovalCore, root: Agent, client: AgentContext, sessionId: string) {
    this.client = client
    this.sessionId = sessionId
    this.leave = approvals.attend(this, root)
  }

  asked(approval: Approval): void {
    void this.ask(approval)
  }

  settled(approval: Approval, _verdict: Verdict): void {
    // A client that still shows it may take it away.
    this.open.get(approval)?.abort(new Error('no answer is needed any more'))
  }

  close(): void {
    this.leave()
  }

  private async ask(approval: Approval): Promise<void> {
    const { id, path, request: { agent, callId, tool, effect, summary } } = approval
    const controller = new AbortController()
    this.open.set(approval, controller)
    const who = path.slice(1).join(' › ')
    const { kind } = describeCall(tool, {}, { ...(effect ? { effect } : {}) }, agent.cwd)
    try {
      const { outcome } = await this.client.request('session/request_permission', {
        sessionId: this.sessionId,
        toolCall: { toolCallId: agent.parent || callId === undefined ? id : callId, title: `${who === '' ? '' : `${who}: `}${tool}${summary === '' ? '' : `: ${summary}`}`, kind, status: 'pending', rawInput: { tool, summary } },
        options: options(tool),
      }, { cancellationSignal: controller.signal, stopWaitingOnCancel: true })
      if (outcome?.outcome !== 'selected') approval.deny()
      else if (outcome.optionId === 'allow-once') approval.allow()
      else if (outcome.optionId === 'allow-always') approval.allow({ always: true })
      else approval.deny()
    } catch {
      // A client that cannot answer, or is gone, has not allowed it.
      approval.deny('the client gave no answer')
    } finally {
      this.open.delete(approval)
    }
  }
}
