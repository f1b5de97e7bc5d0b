import type { LanguageModel } from '@offshoot/model'
import { type ContentBlock, type Message, type Prompt, promptBlocks, type Session } from '@offshoot/session'
import type { Tool, ToolFilter, ToolView } from '@offshoot/tools'
import { onAbort } from './abort.ts'
import type { AgentCore } from './core.ts'
import { AgentError } from './error.ts'
import { runTurn, type Turn } from './loop.ts'
import type { AgentListener, RunOptions, TurnProgress, TurnResult } from './types.ts'
import { UsageCount } from './usage.ts'

declare module '@offshoot/tools' {
  interface ToolExec {
    /** Whose call it is. Absent where code runs the tool without an agent. */
    readonly agent?: Agent
  }
}

/** What `ctx.agents` settled when it made the agent. */
export interface AgentSetup {
  readonly id: string
  readonly label: string
  readonly parent: Agent | undefined
  readonly depth: number
  readonly cwd: string
  readonly session: Session
  readonly modelName: string
  readonly persona: string | undefined
  readonly system: Message
  readonly toolFilter: ToolFilter | undefined
  readonly ownTools: readonly Tool[] | undefined
  readonly maxSteps: number
  readonly maxOutputTokens: number | undefined
}

const quiet: Promise<void> = Promise.resolve()

/**
 * A model in a loop with tools and a session. Made by `ctx.agents.create()`; whoever made it disposes it.
 *
 * It runs one turn at a time. Its children go before it does.
 */
export class Agent {
  readonly id: string
  readonly label: string
  readonly parent: Agent | undefined
  /** 0 for a root; a child is one deeper than its parent. */
  readonly depth: number
  /** Absolute. */
  readonly cwd: string
  readonly session: Session
  /** The registered name of its model. */
  readonly modelName: string
  /** Its own persona; absent where it has the app's. */
  readonly persona: string | undefined
  readonly system: Message
  readonly toolFilter: ToolFilter | undefined
  /** Model requests a turn may make. */
  readonly maxSteps: number
  /** Per request. */
  readonly maxOutputTokens: number | undefined
  private readonly core: AgentCore
  private readonly ownTools: readonly Tool[] | undefined
  private children: Set<Agent> | undefined
  private listeners: AgentListener[] | undefined
  private turn: AgentTurn | undefined
  private closed: Promise<void> | undefined
  private view: { readonly version: number, readonly tools: ToolView } | undefined

  constructor(core: AgentCore, setup: AgentSetup) {
    this.core = core
    this.id = setup.id
    this.label = setup.label
    this.parent = setup.parent
    this.depth = setup.depth
    this.cwd = setup.cwd
    this.session = setup.session
    this.modelName = setup.modelName
    this.persona = setup.persona
    this.system = setup.system
    this.toolFilter = setup.toolFilter
    this.ownTools = setup.ownTools
    this.maxSteps = setup.maxSteps
    this.maxOutputTokens = setup.maxOutputTokens
    if (setup.parent) (setup.parent.children ??= new Set()).add(this)
  }

  /** The tools it sees at this moment: schema, lookup and execution alike. */
  get tools(): ToolView {
    const { version } = this.core.tools
    if (this.view?.version !== version) {
      this.view = { version, tools: this.core.tools.view(this.toolFilter, this.ownTools) }
    }
    return this.view.tools
  }

  get state(): 'idle' | 'running' | 'disposed' {
    return this.closed ? 'disposed' : this.turn ? 'running' : 'idle'
  }

  /** The signal of the turn under way: its tools and requests get this one. */
  get turnSignal(): AbortSignal | undefined {
    return this.turn?.signal
  }

  /** What the turn under way is doing; `undefined` between turns. */
  get progress(): TurnProgress | undefined {
    const { turn } = this
    if (!turn) return undefined
    const tool = turn.running.at(-1)
    const progress = { step: turn.step, usage: turn.usage.total() }
    return tool === undefined ? progress : { ...progress, tool }
  }

  /**
   * Run one turn. It does not reject for what a model or a tool did, nor for an abort: those are stop reasons.
   *
   * @throws {AgentError} `AGENT_BUSY` while a turn runs; `AGENT_DISPOSED` after `dispose()`.
   */
  run(prompt: Prompt, { signal }: RunOptions = {}): Promise<TurnResult> {
    if (this.closed) return Promise.reject(new AgentError('AGENT_DISPOSED', `agent ${this.id} is disposed; create another one`))
    if (this.turn) return Promise.reject(new AgentError('AGENT_BUSY', `agent ${this.id} is running a turn; wait for it to end`))
    let model: LanguageModel
    let input: readonly ContentBlock[]
    try {
      model = this.core.models.get(this.modelName)
      input = promptBlocks(prompt)
    } catch (error) {
      return Promise.reject(error)
    }
    const turn = new AgentTurn(this, model, this.core.maxParallelTools)
    this.turn = turn
    if (signal?.aborted) turn.abort(signal.reason)
    // A child under its parent's turn signal is aborted by the parent itself: no listener, however many children.
    else if (signal && signal === this.parent?.turnSignal) turn.follows = signal
    else if (signal) turn.unlink = onAbort(signal, () => { this.abort(signal.reason) })
    this.emit?.({ type: 'turn-start' })
    return turn.done = this.finish(turn, input)
  }

  /** Abort the turn under way, and those of the children that run under it. */
  abort(reason: unknown = new Error('the agent was aborted')): void {
    const { turn } = this
    if (!turn || turn.signal.aborted) return
    turn.abort(reason)
    if (this.children) for (const child of this.children) if (child.turn?.follows === turn.signal) child.abort(reason)
  }

  /** Hear what the agent does, until the returned function is called. */
  on(listener: AgentListener): () => void {
    // A listener of its own, so that the same function heard twice is two.
    const own: AgentListener = event => listener(event)
    this.listeners = [...this.listeners ?? [], own]
    return () => {
      const rest = this.listeners?.filter(each => each !== own)
      this.listeners = rest?.length ? rest : undefined
    }
  }

  /** Abort, and wait until nothing of it runs any more: children first, then its own turn. Idempotent. */
  dispose(): Promise<void> {
    return this.closed ?? this.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose()
  }

  /** Absent while nobody listens, so that nothing is made for nobody. */
  get emit(): AgentListener | undefined {
    const { listeners, core } = this
    if (!listeners) return undefined
    return event => {
      for (const listener of listeners) {
        try {
          const returned: unknown = listener(event)
          if (returned instanceof Promise) returned.catch(error => { core.log(error) })
        } catch (error) {
          core.log(error)
        }
      }
    }
  }

  private async finish(turn: AgentTurn, input: readonly ContentBlock[]): Promise<TurnResult> {
    try {
      const result = await runTurn(turn, input)
      this.emit?.({ type: 'turn-end', result })
      return result
    } finally {
      turn.unlink?.()
      this.turn = undefined
    }
  }

  // `closed` is there before anybody hears of it: who asks from within finds the agent disposed, and this same promise.
  private close(): Promise<void> {
    if (!this.turn && !this.children?.size) {
      this.closed = quiet
      this.leave()
      return quiet
    }
    let settle!: (outcome: Promise<void>) => void
    this.closed = new Promise(resolve => { settle = resolve })
    this.abort(new Error('the agent was disposed'))
    settle(this.untilQuiet())
    return this.closed
  }

  private async untilQuiet(): Promise<void> {
    await Promise.all([...this.children ?? []].map(child => child.dispose()))
    await this.turn?.done?.catch(() => {})
    this.leave()
  }

  private leave(): void {
    this.core.remove(this)
    this.parent?.children?.delete(this)
  }
}

/** One turn's state: what the loop reads, and what the agent needs to end it. */
class AgentTurn implements Turn {
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
