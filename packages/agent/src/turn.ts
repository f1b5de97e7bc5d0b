import type { LanguageModel } from '@offshoot/model'
import type { Message, Session } from '@offshoot/session'
import type { ToolView } from '@offshoot/tools'
import type { Agent } from './agent.ts'
import type { Turn } from './loop.ts'
import type { AgentListener, TurnResult } from './types.ts'
import { UsageCount } from './usage.ts'

/** One turn's state: what the loop reads, and what the agent needs to end it. */
export class AgentTurn implements Turn {
  readonly agent: Agent
  readonly label: string
  readonly model: LanguageModel
  readonly session: Session
  readonly system: Message
  readonly maxSteps: number
  readonly maxOutputTokens: number | undefined
  readonly maxParallelTools: number
  readonly signal: AbortSignal
  readonly usage: UsageCount = new UsageCount()
  readonly running: string[] = []
  /** Length of the log when the turn began: what a fork of completed turns takes. */
  readonly startedAt: number
  step = 0
  interrupt: (() => void) | undefined
  unlink: (() => void) | undefined
  done: Promise<TurnResult> | undefined
  /** The turn signal of the parent that aborts this turn itself. */
  follows: AbortSignal | undefined
  private readonly controller = new AbortController()

  constructor(agent: Agent, model: LanguageModel, maxParallelTools: number) {
    this.agent = agent
    this.label = agent.label
    this.model = model
    this.session = agent.session
    this.system = agent.system
    this.maxSteps = agent.maxSteps
    this.maxOutputTokens = agent.maxOutputTokens
    this.maxParallelTools = maxParallelTools
    this.signal = this.controller.signal
    this.startedAt = agent.session.length
    agent.session.beginTurn()
  }

  get emit(): AgentListener | undefined {
    return this.agent.emit
  }

  abort(reason: unknown): void {
    this.controller.abort(reason)
    this.interrupt?.()
  }

  view(): ToolView {
    return this.agent.tools
  }

  tellNews(): boolean {
    return this.agent.tellNews()
  }

  stepStarted(step: number): void {
    this.step = step
  }

  toolStarted(name: string): void {
    this.running.push(name)
  }

  toolEnded(name: string): void {
    this.running.splice(this.running.indexOf(name), 1)
  }
}
