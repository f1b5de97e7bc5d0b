import { type Agent, type Notify, onAbort } from '@offshoot/agent'
import type { ToolEffect } from '@offshoot/tools'
import { PendingApproval } from './pending.ts'
import { adjusted, type Policies, type Rule, ruleFor } from './policy.ts'
import type { Adjustment, Approval, ApprovalRequest, Attendant, Verdict } from './types.ts'

export interface ApprovalLimits extends Policies {
  /** How long one request waits for its answer, in milliseconds. */
  readonly timeoutMs: number
}

interface Attendance {
  readonly attendant: Attendant
  /** Absent: of every tree. */
  readonly root: Agent | undefined
}

/** The plain core behind `ctx.approvals`: the policy, and the queue of those whom it tells to ask. */
export class ApprovalCore {
  private readonly limits: ApprovalLimits
  private readonly notify: Notify
  private readonly log: (error: unknown) => void
  /** What waits, and who was told of it. */
  private readonly queue = new Map<PendingApproval, Set<Attendance>>()
  private readonly attendances = new Set<Attendance>()
  /** Tools that a tree may always use. */
  private readonly granted = new WeakMap<Agent, Set<string>>()
  private readonly adjustments = new Map<Agent, Adjustment>()
  private counter = 0

  constructor(limits: ApprovalLimits, notify: Notify, log: (error: unknown) => void) {
    this.limits = limits
    this.notify = notify
    this.log = log
  }

  /** Whether it runs, and nobody has to be asked. */
  allows(agent: Agent, tool: string, effect: ToolEffect | undefined): boolean {
    const rule = ruleFor(this.limits, tool, effect)
    return (this.adjustments.size === 0 ? rule : adjusted(rule, this.adjustments.get(rootOf(agent)), effect)).policy === 'allow'
  }

  judge(request: ApprovalRequest): Verdict | Promise<Verdict> {
    const rule = this.ruleOf(request)
    return rule.policy === 'allow' ? { allowed: true, by: 'policy' } : this.decide(request, rule)
  }

  async ask(request: ApprovalRequest): Promise<Verdict> {
    const rule = ruleFor(this.limits, request.tool, request.effect)
    const asked = rule.policy === 'deny' ? rule : this.adjustedFor(request, { ...rule, policy: 'ask' })
    return asked.policy === 'allow' ? { allowed: true, by: 'policy' } : this.decide(request, asked.policy === 'deny' ? asked : rule)
  }

  /**
   * Hold one tree to `adjustment`, in place of the one before; what waits is judged anew.
   *
   * @returns the end of it, where no other one has taken its place.
   */
  adjust(root: Agent, adjustment: Adjustment): () => void {
    this.adjustments.set(root, adjustment)
    for (const pending of this.queue.keys()) {
      if (pending.root !== root) continue
      const rule = this.adjustedFor(pending.request, { policy: 'ask', key: '' })
      if (rule.policy === 'allow') pending.settle({ allowed: true, by: 'policy' })
      else if (rule.policy === 'deny') pending.settle(denied(pending.request, rule))
    }
    return () => {
      if (this.adjustments.get(root) === adjustment) this.adjustments.delete(root)
    }
  }

  list(root?: Agent): Approval[] {
    return [...this.queue.keys()].filter(each => root === undefined || each.root === root)
  }

  /** @returns the end of it: what nobody else can answer then is denied. */
  attend(attendant: Attendant, root?: Agent): () => void {
    const attendance: Attendance = { attendant, root }
    this.attendances.add(attendance)
    this.putAll()
    return () => {
      if (this.attendances.delete(attendance)) this.putAll()
    }
  }

  /** Nothing asks any more: what waits is settled as `ended`. With `agent`, of what this agent itself asked. */
  end(agent?: Agent): void {
    for (const pending of this.queue.keys()) if (!agent || pending.request.agent === agent) pending.settle(ended(pending.request))
  }

  private ruleOf(request: ApprovalRequest): Rule {
    return this.adjustedFor(request, ruleFor(this.limits, request.tool, request.effect))
  }

  private adjustedFor({ agent, effect }: ApprovalRequest, rule: Rule): Rule {
    return adjusted(rule, this.adjustments.get(rootOf(agent)), effect)
  }

  private decide(request: ApprovalRequest, rule: Rule): Verdict | Promise<Verdict> {
    const { agent, tool, signal } = request
    if (rule.policy === 'deny') return denied(request, rule)
    const root = rootOf(agent)
    if (this.granted.get(root)?.has(tool)) return { allowed: true, by: 'earlier-answer' }
    if (signal?.aborted || agent.state === 'disposed') return ended(request)
    return this.attendancesOf(root).length === 0 ? nobody(request, rule) : this.enqueue(request, root)
  }

  private enqueue(request: ApprovalRequest, root: Agent): Promise<Verdict> {
    const { agent, asker, signal } = request
    // Of a child elsewhere its run says that it waits.
    const shown = asker === undefined ? agent.waitForApproval() : undefined
    // The agent is not quiet meanwhile, and its disposal says so before it waits for anything.
    const release = agent.hold()
    const told = new Set<Attendance>()
    let unlink: (() => void) | undefined
    let isAnnounced = false
    const tellOfEnd = (verdict: Verdict): void => {
      for (const attendance of told) if (this.attendances.has(attendance)) this.tell(() => attendance.attendant.settled?.(pending, verdict))
      this.notify('approval/settled', pending, verdict)
    }
    const pending = new PendingApproval(request, {
      id: `approval-${++this.counter}`, root, timeoutMs: this.limits.timeoutMs,
      settled: (settled, verdict) => {
        this.queue.delete(settled)
        unlink?.()
        shown?.()
        release()
        if (isAnnounced) tellOfEnd(verdict)
      },
      always: ({ request: { tool } }) => { this.grant(root, tool) },
    })
    if (signal) unlink = onAbort(signal, () => { pending.settle(ended(request)) })
    this.queue.set(pending, told)
    this.notify('approval/asked', pending)
    isAnnounced = true
    // Settled by a listener: the others hear of its end after its beginning.
    if (pending.verdict) tellOfEnd(pending.verdict)
    else this.put(pending, told)
    return pending.outcome
  }

  private putAll(): void {
    for (const [pending, told] of this.queue) this.put(pending, told)
  }

  /** Before everybody who may answer and has not heard of it. Where nobody may any more, it is denied. */
  private put(pending: PendingApproval, told: Set<Attendance>): void {
    const attendances = this.attendancesOf(pending.root)
    if (attendances.length === 0) pending.settle(nobody(pending.request, this.ruleOf(pending.request)))
    for (const attendance of attendances) {
      if (pending.verdict) return
      if (told.has(attendance)) continue
      told.add(attendance)
      this.tell(() => attendance.attendant.asked(pending))
    }
  }

  private grant(root: Agent, tool: string): void {
    const tools = this.granted.get(root)
    if (tools) tools.add(tool)
    else this.granted.set(root, new Set([tool]))
    for (const pending of this.queue.keys()) if (pending.root === root && pending.request.tool === tool) pending.settle({ allowed: true, by: 'earlier-answer' })
  }

  /** Those of this tree alone, else those of all. */
  private attendancesOf(root: Agent): Attendance[] {
    const all = [...this.attendances]
    const own = all.filter(each => each.root === root)
    return own.length > 0 ? own : all.filter(each => each.root === undefined)
  }

  private tell(act: () => unknown): void {
    try {
      const returned = act()
      if (returned instanceof Promise) returned.catch(this.log)
    } catch (error) {
      this.log(error)
    }
  }
}

function rootOf(agent: Agent): Agent {
  let root = agent
  while (root.parent) root = root.parent
  return root
}

function denied({ tool }: ApprovalRequest, { key, adjustedBy }: Rule): Verdict {
  return { allowed: false, by: 'policy', reason: `"${tool}" is not allowed here (${adjustedBy ?? `approvals: ${key} is "deny"`})` }
}

function nobody({ tool }: ApprovalRequest, { policy, key }: Rule): Verdict {
  // Of what was asked for beyond the policy, no other policy lets it run.
  const remedy = policy === 'ask' ? `approvals: ${key}; "allow" there lets it run, and on a terminal it is asked for` : 'on a terminal it is asked for'
  return { allowed: false, by: 'nobody', reason: `"${tool}" needs an approval, and nobody is here to give it (${remedy})` }
}

function ended({ tool }: ApprovalRequest): Verdict {
  return { allowed: false, by: 'ended', reason: `the call of "${tool}" was cancelled before it was approved` }
}
