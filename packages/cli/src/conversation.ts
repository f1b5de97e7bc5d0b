import type { Agent, TurnResult } from '@offshoot/agent'

export interface ConversationListeners {
  /** A turn has ended: one that was asked for, or one that the agent began to hear of its background work. */
  readonly turnEnded: (result: TurnResult) => void
  /** Something asked for could not be done. */
  readonly failed: (error: unknown) => void
  /** Nothing more is asked for, and work still runs in the background. */
  readonly waiting: () => void
}

/** What is asked for is done one after the other, each while the agent is free, between the turns that it begins by itself. */
export class Conversation {
  private readonly agent: Agent
  private readonly signal: AbortSignal
  private readonly listeners: ConversationListeners
  private readonly asked: (() => Promise<unknown>)[] = []
  private isOver = false
  private changes: (() => void)[] = []

  /** `signal` ends it; what runs then is the caller's to end. */
  constructor(agent: Agent, signal: AbortSignal, listeners: ConversationListeners) {
    this.agent = agent
    this.signal = signal
    this.listeners = listeners
    signal.addEventListener('abort', () => { this.changed() })
    agent.on(event => {
      if (event.type !== 'turn-end') return
      listeners.turnEnded(event.result)
      this.changed()
    })
  }

  /** The next turn, or whatever else is to be done between turns. It waits for those before it. */
  ask(act: () => Promise<unknown>): void {
    this.asked.push(act)
    this.changed()
  }

  /** Nothing more is asked for. */
  end(): void {
    this.isOver = true
    this.changed()
  }

  /** Settles once everything was done, nothing runs in the background, and the agent has heard of all that it may hear of; or at the abort. */
  async run(): Promise<void> {
    const { agent, signal } = this
    for (let act = await this.next(); act; act = await this.next()) {
      try {
        await act()
      } catch (error) {
        this.listeners.failed(error)
      }
    }
    if (agent.isBusy && !signal.aborted) this.listeners.waiting()
    // A turn that fails ends the waiting, and the conversation goes on: others may still have something to tell.
    while (agent.isBusy && !signal.aborted) await agent.untilQuiet({ signal })
  }

  /** What is next, when the agent is free for it; `undefined` at the end. */
  private async next(): Promise<(() => Promise<unknown>) | undefined> {
    for (;;) {
      if (this.signal.aborted) return undefined
      if (this.agent.state !== 'running') {
        const act = this.asked.shift()
        if (act || this.isOver) return act
      }
      await new Promise<void>(resolve => { this.changes.push(resolve) })
    }
  }

  private changed(): void {
    for (const resolve of this.changes.splice(0)) resolve()
  }
}
