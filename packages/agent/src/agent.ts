import { type ContentBlock, noUsage, type Prompt, promptBlocks, type Usage } from '@offshoot/session'
import type { ToolView } from '@offshoot/tools'
import { onAbort } from './abort.ts'
import { Background, type BackgroundOwner } from './background.ts'
import type { AgentCore } from './core.ts'
import { emitTo } from './emit.ts'
import { AgentError } from './error.ts'
import { AgentIdentity } from './identity.ts'
import type { Notice } from './inbox.ts'
import { runTurn } from './loop.ts'
import type { AbortOptions, AgentListener, AgentSlot, RunOptions, TurnCut, TurnProgress, TurnResult } from './types.ts'
import { AgentTurn } from './turn.ts'
import { sumUsage } from './usage.ts'

declare module '@offshoot/tools' {
  interface ToolExec {
    /** Whose call it is. Absent where code runs the tool without an agent. */
    readonly agent?: Agent
  }
}

const quiet: Promise<void> = Promise.resolve()
const nothing = (): void => {}

/**
 * A model in a loop with tools and a session. Made by `ctx.agents.create()`; whoever made it disposes it.
 *
 * It runs one turn at a time. Its children go before it does.
 */
export class Agent extends AgentIdentity {
  /** Whoever started the agent sets it, where agents have to share. Absent: it works when it likes. */
  slot: AgentSlot | undefined
  private readonly core: AgentCore
  private children: Set<Agent> | undefined
  private listeners: AgentListener[] | undefined
  private turn: AgentTurn | undefined
  private closed: Promise<void> | undefined
  /** Made when something is first under way beside a turn; most children never have any. */
  private background: Background | undefined
  private spent: Usage | undefined
  private view: { readonly version: number, readonly tools: ToolView } | undefined

  constructor(core: AgentCore, setup: AgentIdentity) {
    super(setup)
    this.core = core
    if (setup.parent) (setup.parent.children ??= new Set()).add(this)
  }

  /** The tools it sees at this moment: schema, lookup and execution alike. */
  get tools(): ToolView {
    const { version } = this.core.tools
    if (this.view?.version !== version) {
      const own = this.answer ? [...this.ownTools ?? [], this.answer] : this.ownTools
      this.view = { version, tools: this.core.tools.view(this.toolFilter, own) }
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
    return this.turn?.progress()
  }

  /** What it has used in all its turns, the one under way included. */
  get usage(): Usage {
    const { turn, spent } = this
    if (!turn) return spent ?? noUsage
    return spent ? sumUsage(spent, turn.usage.total()) : turn.usage.total()
  }

  /**
   * Run one turn. It does not reject for what a model or a tool did, nor for an abort: those are stop reasons.
   *
   * @throws {AgentError} `AGENT_BUSY` while a turn runs; `AGENT_DISPOSED` after `dispose()`.
   */
  run(prompt: Prompt, { signal }: RunOptions = {}): Promise<TurnResult> {
    try {
      return this.begin(promptBlocks(prompt), signal)!
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * Run a turn, and every turn that the notices of its background work bring, until nothing is under way any more.
   *
   * The result is the last turn's, with the usage of all. One that is not `completed` ends it, as does an abort between
   * two turns, which gives `aborted`: what still runs then is the caller's to end.
   *
   * @throws {AgentError} as `run()`.
   */
  async runToQuiet(prompt: Prompt, options: RunOptions = {}): Promise<TurnResult> {
    const first = await this.run(prompt, options)
    if (first.stopReason !== 'completed' || !this.background) return first
    return this.background.quietAfter(first, options.signal)
  }

  /**
   * Wait until nothing of the agent is under way: no turn, no background work, nothing left to tell. Notices that come
   * meanwhile begin turns at once, however many, unless the agent was aborted. Answers the last turn that ended meanwhile,
   * with the usage of all; one that is not `completed` ends the waiting. So does `signal`, which aborts the turns that
   * notices began meanwhile; a turn under way is waited for.
   */
  async untilQuiet({ signal }: RunOptions = {}): Promise<TurnResult | undefined> {
    // Asked by a listener while a turn begins: it can be waited for once it has begun.
    if (this.turn && !this.turn.done) await quiet
    return this.needBackground().untilQuiet(signal)
  }

  /** Whether anything of it is under way, as `untilQuiet()` sees it: a turn, background work, something that it is to be told. */
  get isBusy(): boolean {
    return this.turn !== undefined || this.background?.isBusy === true
  }

  /**
   * Tell the agent something at its next step, or wake it for that if it is idle. Notices that come together are told together.
   *
   * An agent that was aborted, or woken `maxWakes` times in a row, is told at its next input.
   *
   * @throws {AgentError} `AGENT_DISPOSED`.
   */
  inject(notice: Notice): void {
    if (this.closed) throw this.disposed()
    this.needBackground().inject(notice)
  }

  /**
   * Say that something elsewhere is under way for this agent, until the returned function is called: it is not
   * quiet before that, and its disposal waits for it.
   */
  hold(): () => void {
    return this.needBackground().hold()
  }

  /**
   * Abort the turn under way, and those of the children that run under it. With `scope: 'tree'` also everything that
   * runs below it in the background, at every depth, parents first. Idempotent, and no error where nothing runs.
   *
   * Nothing wakes it before its next input, whether a turn was under way or just over.
   */
  abort(reason: unknown = new Error('the agent was aborted'), { scope = 'turn' }: AbortOptions = {}): void {
    this.needBackground().silence(reason)
    const { turn } = this
    if (turn && !turn.aborted) {
      const { signal } = turn
      turn.abort(reason)
      this.abortFollowers(signal, reason)
    }
    // One that is disposed has seen to everything below it.
    if (scope === 'turn' || this.closed) return
    this.core.notify('agent/cancelled', this, reason)
    if (this.children) for (const child of this.children) child.abort(reason, { scope })
  }

  /**
   * End the turn under way early: what runs in the foreground is aborted, then the model may write down what it has, in one
   * request without tools. The turn ends with `cut.stopReason`. An abort still ends it at once.
   */
  wrapUp(cut: TurnCut): void {
    const { turn } = this
    if (!turn || turn.cut || turn.aborted) return
    const { signal } = turn
    turn.cutShort(cut)
    this.abortFollowers(signal, signal.reason)
  }

  /** Say that a call of the turn under way waits for a child, until the returned function is called: an agent all of whose calls do gives its slot back. */
  waitForChild(callId: string): () => void {
    return this.slot && this.turn ? this.turn.waitForChild(callId) : nothing
  }

  /** Say that a call of the turn under way waits for an approval, until the returned function is called: the agent waits for a person then, whatever else it does. */
  waitForApproval(): () => void {
    return this.turn?.waitForApproval() ?? nothing
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
    return this.listeners && emitTo(this.listeners, this.core.log)
  }

  /** Begin a turn: of the user's, or without `input` one of its own, where there is something to tell. */
  private begin(input: readonly ContentBlock[] | undefined, signal: AbortSignal | undefined): Promise<TurnResult> | undefined {
    if (this.closed) throw this.disposed()
    if (this.turn) throw new AgentError('AGENT_BUSY', `agent ${this.id} is running a turn; wait for it to end`)
    const turn = new AgentTurn(this, this.core.models.get(this.modelName), this.core)
    if (!input && !this.tellNews()) return undefined
    this.turn = turn
    this.background?.turnBegan(input !== undefined)
    if (signal?.aborted) this.abort(signal.reason)
    // A child under its parent's turn signal is aborted by the parent itself: no listener, however many children.
    else if (signal && signal === this.parent?.turnSignal) turn.follows = signal
    else if (signal) turn.unlink = onAbort(signal, () => { this.abort(signal.reason) })
    this.emit?.({ type: 'turn-start', trigger: input ? 'prompt' : 'notice' })
    return turn.done = this.finish(turn, input)
  }

  /** Tell what waits now, at the end of the log. Called when a turn begins, and by the loop between two steps. */
  tellNews(): boolean {
    return this.background?.inbox.deliver(this.session) ?? false
  }

  private async finish(turn: AgentTurn, input: readonly ContentBlock[] | undefined): Promise<TurnResult> {
    let result: TurnResult | undefined
    try {
      result = await runTurn(turn, input)
      this.emit?.({ type: 'turn-end', result })
      return result
    } finally {
      turn.unlink?.()
      this.spent = result && !this.spent ? result.usage : this.usage
      this.turn = undefined
      this.slot?.giveBack()
      this.background?.turnEnded(result)
    }
  }

  private abortFollowers(signal: AbortSignal, reason: unknown): void {
    if (this.children) for (const child of this.children) if (child.turn?.follows === signal) child.abort(reason)
  }

  private needBackground(): Background {
    if (this.background) return this.background
    // oxlint-disable-next-line typescript/no-this-alias -- the accessors below are the owner's
    const agent = this
    const owner: BackgroundOwner = {
      get turnDone() { return agent.turn?.done },
      get isDisposed() { return agent.closed !== undefined },
      maxWakes: this.core.maxWakes,
      maxNewsBytes: this.core.tools.output.maxStepBytes,
      log: this.core.log,
      wake: signal => agent.begin(undefined, signal),
    }
    return this.background = new Background(owner)
  }

  private disposed(): AgentError {
    return new AgentError('AGENT_DISPOSED', `agent ${this.id} is disposed; create another one`)
  }

  // `closed` is there before anybody hears of it: who asks from within finds the agent disposed, and this same promise.
  private close(): Promise<void> {
    if (!this.turn && !this.children?.size && !this.background) {
      this.closed = quiet
      this.leave()
      return quiet
    }
    let settle!: (outcome: Promise<void>) => void
    this.closed = new Promise(resolve => { settle = resolve })
    const reason = new Error('the agent was disposed')
    this.background?.silence(reason)
    this.abort(reason)
    if (this.background?.isHeld) this.core.notify('agent/cancelled', this, reason)
    settle(this.end())
    return this.closed
  }

  private async end(): Promise<void> {
    await Promise.all([...this.children ?? []].map(child => child.dispose()))
    await this.turn?.done?.catch(() => {})
    await this.background?.released()
    this.leave()
  }

  private leave(): void {
    this.core.remove(this)
    this.parent?.children?.delete(this)
  }
}
