import type { PermissionOption, PermissionOptionKind, RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk/unstable'
import type { Verdict } from '@offshoot/approvals'
import type { ToolEffect } from '@offshoot/tools'
import type { SeenCall } from './collector.ts'
import { type Config, type PermissionRule, type ToolKind, toolKinds } from './config.ts'

/** What an agent wants to do, for whoever decides. */
export interface PermissionAsk {
  readonly kind: ToolKind
  readonly effect: ToolEffect
  readonly summary: string
  /** Aborts when no answer is needed any more. */
  readonly signal: AbortSignal
}

export interface PermissionsOptions {
  readonly rule: Config['permission']
  readonly sessionId: () => string | undefined
  /** What the agent has told of a call before it asked. */
  readonly seen: (toolCallId: string) => SeenCall | undefined
  /** Asks people; answers `undefined` where the app has nothing to ask them through. */
  readonly ask: (ask: PermissionAsk) => Promise<Verdict> | undefined
  /** A decision was made, and why. */
  readonly decided: (ask: Omit<PermissionAsk, 'signal'>, allowed: boolean, why: string) => void
}

const cancelled: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } }

/** What each kind of call can do to the world; what is not known may do anything. */
const effects: Record<ToolKind, ToolEffect> = {
  read: 'read', search: 'read', think: 'read', fetch: 'read', edit: 'write', delete: 'write', move: 'write',
  execute: 'execute', switch_mode: 'execute', other: 'execute',
}

/**
 * Answers what one agent asks for. `allow_always` is never chosen: it would outlive the question. A refusal that the agent does not offer is
 * answered as cancelled, which it must take for no.
 */
export class Permissions {
  private readonly options: PermissionsOptions
  private readonly open = new Set<AbortController>()
  private isOver = false
  /** What was refused last: an agent may end its turn over it. */
  lastRefusal: string | undefined

  constructor(options: PermissionsOptions) {
    this.options = options
  }

  /** Whether somebody is asked now. */
  get isAsking(): boolean {
    return this.open.size > 0
  }

  /** The turn is cancelled: everything asked, and everything that will be, is answered so at once, as the protocol demands. */
  cancel(reason: unknown): void {
    this.isOver = true
    for (const controller of this.open) controller.abort(reason)
  }

  /** `signal` aborts where the agent takes its question back, or is gone. */
  async answer({ sessionId, toolCall, options }: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse> {
    if (this.isOver) return cancelled
    const offered = Array.isArray(options) ? options : []
    // A question of a session that is not ours has nobody to answer it.
    if (sessionId !== this.options.sessionId()) return answerOf(offered, false)
    const seen = this.options.seen(toolCall?.toolCallId)
    const kind = kindOf(toolCall?.kind ?? seen?.kind)
    const summary = toolCall?.title ?? seen?.title ?? kind
    const { allowed, why } = await this.decide({ kind, effect: effects[kind], summary }, signal)
    // Cancelled while somebody was asked.
    if (this.wasCancelled()) return cancelled
    if (!allowed) this.lastRefusal = `${kind} "${summary}": ${why}`
    this.options.decided({ kind, effect: effects[kind], summary }, allowed, why)
    return answerOf(offered, allowed)
  }

  private async decide(ask: Omit<PermissionAsk, 'signal'>, signal: AbortSignal): Promise<{ readonly allowed: boolean, readonly why: string }> {
    const rule = this.ruleFor(ask.kind)
    if (rule !== 'ask') return { allowed: rule === 'allow-once', why: `permission: ${rule}` }
    const controller = new AbortController()
    const asking = this.options.ask({ ...ask, signal: controller.signal })
    if (!asking) return { allowed: false, why: 'permission: ask, and the app has no ctx.approvals (load @offshoot/approvals)' }
    const takeBack = (): void => { controller.abort(signal.reason) }
    signal.addEventListener('abort', takeBack)
    this.open.add(controller)
    try {
      const verdict = await Promise.race([asking, ended(controller.signal)])
      return verdict.allowed ? { allowed: true, why: `approved (${verdict.by})` } : { allowed: false, why: verdict.reason }
    } finally {
      this.open.delete(controller)
      signal.removeEventListener('abort', takeBack)
    }
  }

  private ruleFor(kind: ToolKind): PermissionRule {
    const { rule } = this.options
    return typeof rule === 'string' ? rule : rule[kind] ?? 'deny'
  }

  private wasCancelled(): boolean {
    return this.isOver
  }
}

function ended(signal: AbortSignal): Promise<Verdict> {
  return new Promise(resolve => {
    signal.addEventListener('abort', () => { resolve({ allowed: false, by: 'ended', reason: 'the question was taken back' }) }, { once: true })
  })
}

function answerOf(options: readonly PermissionOption[], allowed: boolean): RequestPermissionResponse {
  const wanted: PermissionOptionKind[] = allowed ? ['allow_once'] : ['reject_once', 'reject_always']
  const option = wanted.map(kind => options.find(each => each?.kind === kind)).find(each => each !== undefined)
  return option ? { outcome: { outcome: 'selected', optionId: option.optionId } } : cancelled
}

function kindOf(kind: unknown): ToolKind {
  return toolKinds.find(each => each === kind) ?? 'other'
}
