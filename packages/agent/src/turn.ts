import type { LanguageModel, RateLimits } from '@offshoot/model'
import type { Message, Session } from '@offshoot/session'
import type { OutputCap, ToolView } from '@offshoot/tools'
import type { Agent } from './agent.ts'
import type { AgentCore } from './core.ts'
import type { Turn } from './loop.ts'
import type { AgentListener, AnswerTool, TurnCut, TurnProgress, TurnResult, TurnWait } from './types.ts'
import { UsageCount } from './usage.ts'

/** One turn's state: what the loop reads, and what the agent needs to end it. */
export class AgentTurn implements Turn {
  readonly agent: Agent
  readonly label: string
  readonly model: LanguageModel
  readonly session: Session
  readonly system: Message
  readonly answer: AnswerTool | undefined
  readonly maxSteps: number
  readonly maxOutputTokens: number | undefined
  readonly maxParallelTools: number
  readonly output: OutputCap
  readonly maxRepeats: number
  readonly rateLimits: RateLimits
  readonly usage: UsageCount = new UsageCount()
  readonly running: string[] = []
  /** Length of the log when the turn began: what a fork of completed turns takes. */
  readonly startedAt: number
  step = 0
  waitsFor: TurnWait = 'model'
  heardAt: number = Date.now()
  hasAnswered = false
  cut: TurnCut | undefined
  /** Why it was aborted, if it was: no wrap-up then. */
  aborted: { readonly reason: unknown } | undefined
  interrupt: (() => void) | undefined
  unlink: (() => void) | undefined
  done: Promise<TurnResult> | undefined
  /** The turn signal of the parent that aborts this turn itself. */
  follows: AbortSignal | undefined
  private controller = new AbortController()
  /** Calls that wait for a child, with how many each waits for. */
  private waits: Map<string, number> | undefined
  /** Calls that wait for an approval. */
  private approvals = 0

  constructor(agent: Agent, model: LanguageModel, { models, maxParallelTools, maxRepeats, tools }: Pick<AgentCore, 'models' | 'maxParallelTools' | 'maxRepeats' | 'tools'>) {
    this.agent = agent
    this.label = agent.label
    this.model = model
    this.session = agent.session
    this.system = agent.system
    this.answer = agent.answer
    this.maxSteps = agent.maxSteps
    this.maxOutputTokens = agent.maxOutputTokens
    this.maxParallelTools = maxParallelTools
    this.output = tools.output
    this.maxRepeats = maxRepeats
    this.rateLimits = models.rateLimits
    this.startedAt = agent.session.length
    agent.session.beginTurn()
  }

  get emit(): AgentListener | undefined {
    return this.agent.emit
  }

  /** The signal of the work under way. A turn that is cut has another one while it wraps up. */
  get signal(): AbortSignal {
    return this.controller.signal
  }

  abort(reason: unknown): void {
    this.aborted ??= { reason }
    this.end(reason)
  }

  /** End the work under way and wrap up. The first cut counts. */
  cutShort(cut: TurnCut): void {
    this.cut ??= cut
    this.end(new Error(cut.diagnostic))
  }

  beginWrapUp(): void {
    if (this.controller.signal.aborted && !this.aborted) this.controller = new AbortController()
  }

  private end(reason: unknown): void {
    this.controller.abort(reason)
    this.interrupt?.()
  }

  view(): ToolView {
    return this.agent.tools
  }

  tellNews(): boolean {
    return this.agent.tellNews()
  }

  takeSlot(): Promise<void> | undefined {
    const taking = this.agent.slot?.take(this.signal)
    if (!taking) return undefined
    const before = this.waitsFor
    this.waitsFor = 'slot'
    return taking.finally(() => { this.waitsFor = before })
  }

  refusal(): TurnCut | undefined {
    return this.agent.slot?.refusal()
  }

  stepStarted(step: number): void {
    this.step = step
    this.asked()
  }

  asked(): void {
    this.waitsFor = 'model'
    this.heardAt = Date.now()
    this.hasAnswered = false
  }

  heard(): void {
    this.heardAt = Date.now()
    this.hasAnswered = true
  }

  held(until: number): void {
    this.waitsFor = 'rate-limit'
    this.emit?.({ type: 'rate-limit', retryAt: until })
  }

  toolStarted(name: string): void {
    this.waitsFor = 'tools'
    this.running.push(name)
  }

  toolEnded(name: string): void {
    this.running.splice(this.running.indexOf(name), 1)
    this.giveBackIfIdle()
  }

  progress(): TurnProgress {
    const { step, startedAt: logLength, heardAt, hasAnswered } = this
    const waitsFor = this.approvals > 0 ? 'approval' : this.waitsFor
    const tool = this.running.at(-1)
    const progress = { step, logLength, waitsFor, heardAt, hasAnswered, usage: this.usage.total() }
    return tool === undefined ? progress : { ...progress, tool }
  }

  /** The call waits for a child of this agent, until the returned function is called. */
  waitForChild(callId: string): () => void {
    const waits = this.waits ??= new Map()
    waits.set(callId, (waits.get(callId) ?? 0) + 1)
    this.giveBackIfIdle()
    let waiting = true
    return () => {
      if (!waiting) return
      waiting = false
      const left = waits.get(callId)! - 1
      if (left > 0) waits.set(callId, left)
      else waits.delete(callId)
    }
  }

  /** A call waits for an approval, until the returned function is called. Idempotent. */
  waitForApproval(): () => void {
    this.approvals++
    let waiting = true
    return () => {
      if (waiting) this.approvals--
      waiting = false
    }
  }

  private giveBackIfIdle(): void {
    const { running, waits } = this
    if (waits !== undefined && running.length > 0 && waits.size === running.length) this.agent.slot?.giveBack()
  }
}
