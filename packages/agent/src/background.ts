import { describeFailure } from '@offshoot/model'
import { onAbort } from './abort.ts'
import { Inbox, type Notice } from './inbox.ts'
import type { TurnResult } from './types.ts'
import { sumUsage } from './usage.ts'

/** The agent, as far as its background has to know it. */
export interface BackgroundOwner {
  /** The turn under way. */
  readonly turnDone: Promise<TurnResult> | undefined
  readonly isDisposed: boolean
  readonly maxWakes: number
  /** Of what is told in one message. */
  readonly maxNewsBytes: number
  readonly log: (error: unknown) => void
  /** Begin a turn that tells what waits; `undefined` where nothing could be told. */
  wake(signal: AbortSignal | undefined): Promise<TurnResult> | undefined
}

/** Somebody who waits for quiet, and the last turn that has ended meanwhile, with the usage of all. */
interface Drain {
  result: TurnResult | undefined
}

/** First retry of telling what the log did not take, and the longest wait between two. */
const retryMs = { first: 100, most: 30_000 }

/** What is under way for an agent beside its turn: work elsewhere, and what it is to be told of it. */
export class Background {
  readonly inbox: Inbox
  /** An abort silences the agent until its next turn: nothing wakes it. */
  silenced: { readonly reason: unknown, readonly wasBusy: boolean } | undefined
  private readonly owner: BackgroundOwner
  private holds = 0
  private changes: (() => void)[] = []
  /** Turns begun by notices since the last input, but for those that somebody waited for. */
  private wakes = 0
  private timer: NodeJS.Immediate | undefined
  /** Those who wait for quiet. While there are any, it is them who begin the turns. */
  private readonly drains = new Set<Drain>()
  private retry: NodeJS.Timeout | undefined
  private nextRetryMs = retryMs.first

  constructor(owner: BackgroundOwner) {
    this.owner = owner
    this.inbox = new Inbox(owner.maxNewsBytes, owner.log)
  }

  /** Whether work is under way elsewhere. */
  get isHeld(): boolean {
    return this.holds > 0
  }

  get isBusy(): boolean {
    return this.isHeld || this.hasNews()
  }

  inject(notice: Notice): void {
    this.inbox.add(notice)
    this.changed()
  }

  hold(): () => void {
    this.holds++
    let held = true
    return () => {
      if (!held) return
      held = false
      this.holds--
      this.changed()
    }
  }

  silence(reason: unknown): void {
    this.silenced ??= { reason, wasBusy: this.isBusy }
    clearImmediate(this.timer)
    this.timer = undefined
    this.stopRetry()
    this.changed()
  }

  /** A turn begins: of the user's, or of its own. */
  turnBegan(byUser: boolean): void {
    this.silenced = undefined
    this.stopRetry()
    this.nextRetryMs = retryMs.first
    if (byUser) this.wakes = 0
    else if (this.drains.size === 0) this.wakes++
  }

  turnEnded(result: TurnResult | undefined): void {
    for (const drain of this.drains) drain.result = after(drain.result, result)
    this.changed()
  }

  /** Something happened that may let others go on, or the agent wake. */
  changed(): void {
    for (const resolve of this.changes.splice(0)) resolve()
    if (this.timer || this.wakes >= this.owner.maxWakes || !this.mayWake()) return
    // At the end of the tick, so that what settles together is told together.
    this.timer = setImmediate(() => {
      this.timer = undefined
      if (this.mayWake()) this.wake(undefined).catch(this.owner.log)
    })
  }

  /** Settles once nothing is under way elsewhere. */
  async released(): Promise<void> {
    while (this.isHeld) await this.change()
  }

  /** See `Agent.runToQuiet()`, whose first turn has ended with `first`. */
  async quietAfter(first: TurnResult, signal: AbortSignal | undefined): Promise<TurnResult> {
    const result = after(first, await this.untilQuiet(signal, true))!
    if (signal?.aborted) this.silence(signal.reason)
    // Nothing was left to do when the abort came: what was completed stays so.
    if (!this.silenced?.wasBusy || result.stopReason !== 'completed') return result
    return { ...result, stopReason: 'aborted', diagnostic: describeFailure(this.silenced.reason) }
  }

  /** See `Agent.untilQuiet()`. With `orSilenced`, an abort of the agent ends it too. */
  async untilQuiet(signal: AbortSignal | undefined, orSilenced = false): Promise<TurnResult | undefined> {
    const { owner } = this
    const drain: Drain = { result: undefined }
    this.drains.add(drain)
    try {
      for (;;) {
        const { result } = drain
        if (signal?.aborted || result && result.stopReason !== 'completed') break
        if (owner.turnDone) await owner.turnDone
        else if (orSilenced && this.silenced) break
        else if (this.hasNews()) await this.tell(signal)
        else if (this.isHeld) await this.change(signal)
        else break
      }
      return drain.result
    } finally {
      this.drains.delete(drain)
      this.changed()
    }
  }

  private async tell(signal: AbortSignal | undefined): Promise<void> {
    if (this.retry) {
      await this.change(signal)
      return
    }
    // At the end of the tick, as above.
    await new Promise<void>(resolve => { setImmediate(resolve) })
    if (!signal?.aborted && !this.owner.turnDone && this.hasNews()) await this.wake(signal)
  }

  /** Where there was something to tell and the log did not take it, it is tried again later. */
  private async wake(signal: AbortSignal | undefined): Promise<void> {
    let turn: Promise<TurnResult> | undefined
    try {
      turn = this.owner.wake(signal)
    } finally {
      if (!turn && this.hasNews()) this.tryLater()
    }
    await turn
  }

  private tryLater(): void {
    this.retry ??= setTimeout(() => {
      this.retry = undefined
      this.changed()
    }, this.nextRetryMs)
    this.nextRetryMs = Math.min(this.nextRetryMs * 2, retryMs.most)
  }

  private stopRetry(): void {
    clearTimeout(this.retry)
    this.retry = undefined
  }

  private mayWake(): boolean {
    return !this.owner.turnDone && this.drains.size === 0 && !this.retry && this.hasNews()
  }

  /** Whether there is anything that the agent may be woken for. */
  private hasNews(): boolean {
    return !this.owner.isDisposed && !this.silenced && this.inbox.hasNews()
  }

  /** Settles at the next change, or when `signal` aborts. */
  private async change(signal?: AbortSignal): Promise<void> {
    let unlink: (() => void) | undefined
    await new Promise<void>(resolve => {
      this.changes.push(resolve)
      if (signal) unlink = onAbort(signal, resolve)
    })
    unlink?.()
  }
}

/** The outcome of the later one, with what both cost. */
function after(first: TurnResult | undefined, last: TurnResult | undefined): TurnResult | undefined {
  if (!first || !last) return last ?? first
  return { ...last, usage: sumUsage(first.usage, last.usage), steps: first.steps + last.steps }
}
