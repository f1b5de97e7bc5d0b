import type { Agent } from '@offshoot/agent'
import type { Approval, ApprovalRequest, Verdict } from './types.ts'

export interface PendingParts {
  readonly id: string
  readonly root: Agent
  readonly timeoutMs: number
  /** The first outcome; called once. */
  readonly settled: (pending: PendingApproval, verdict: Verdict) => void
  /** It was allowed for good. */
  readonly always: (pending: PendingApproval) => void
}

/** A request in the queue. */
export class PendingApproval implements Approval {
  readonly id: string
  readonly request: ApprovalRequest
  readonly root: Agent
  readonly path: readonly string[]
  readonly askedAt: number = Date.now()
  readonly expiresAt: number
  verdict: Verdict | undefined
  /** Settles with it. */
  readonly outcome: Promise<Verdict>
  private readonly parts: PendingParts
  private resolve!: (verdict: Verdict) => void
  private readonly timer: NodeJS.Timeout

  constructor(request: ApprovalRequest, parts: PendingParts) {
    const { id, root, timeoutMs } = parts
    this.request = request
    this.parts = parts
    this.id = id
    this.root = root
    this.path = pathOf(request)
    this.expiresAt = this.askedAt + timeoutMs
    this.outcome = new Promise(resolve => { this.resolve = resolve })
    this.timer = setTimeout(() => {
      this.settle({ allowed: false, by: 'deadline', reason: `nobody said within ${timeoutMs} ms whether "${request.tool}" may run (approvals: timeoutMs)` })
    }, timeoutMs)
  }

  allow({ always = false }: { readonly always?: boolean } = {}): void {
    if (this.verdict) return
    this.settle({ allowed: true, by: 'answer' })
    if (always) this.parts.always(this)
  }

  deny(reason?: string): void {
    const words = reason?.trim()
    this.settle({ allowed: false, by: 'answer', reason: `the user did not allow this call of "${this.request.tool}"${words ? `: ${words}` : ''}` })
  }

  /** The first outcome counts. */
  settle(verdict: Verdict): void {
    if (this.verdict) return
    this.verdict = Object.freeze(verdict)
    clearTimeout(this.timer)
    this.parts.settled(this, verdict)
    this.resolve(verdict)
  }
}

function pathOf({ agent, asker }: ApprovalRequest): string[] {
  const labels: string[] = asker === undefined ? [] : [asker]
  for (let each: Agent | undefined = agent; each; each = each.parent) labels.unshift(each.label)
  return labels
}
