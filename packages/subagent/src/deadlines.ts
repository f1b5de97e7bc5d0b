import type { Agent, TurnCut, TurnProgress } from '@offshoot/agent'

export interface DeadlineLimits {
  /** How long a provider may take to make a child. */
  readonly startMs: number
  /** How long a model may take to say the first word of a reply. */
  readonly firstTokenMs: number
  /** How long it may then be silent. */
  readonly idleMs: number
  /** How long a child may take in all. Absent: no limit. */
  readonly timeoutMs?: number
  /** How long before that it is told to write down what it has. At most a fifth of the whole. */
  readonly wrapUpMs: number
}

/** A run, as far as its deadlines go. */
export interface Watched {
  /** Only when the child lives in this process: nobody else can be told to wrap up. */
  readonly agent?: Agent
  /** Whether its silence can be told from work. */
  readonly isHeard: boolean
  readonly progress: Pick<TurnProgress, 'waitsFor' | 'heardAt' | 'hasAnswered'> | undefined
  /** How long its provider lets it be silent. */
  readonly idleMs: number | undefined
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** The smallest total that applies to it. */
  readonly timeoutMs: number | undefined
  /** A deadline has passed: end it. */
  expire(cut: TurnCut): void
}

/** Ends runs whose deadline has passed. One timer for all of them, armed for the next that can. */
export class Deadlines {
  readonly limits: DeadlineLimits
  private readonly runs = new Set<Watched>()
  private timer: NodeJS.Timeout | undefined
  private dueAt = Infinity

  constructor(limits: DeadlineLimits) {
    this.limits = limits
  }

  watch(run: Watched): void {
    this.runs.add(run)
    const first = run.isHeard ? this.shortestSilence(run) : Infinity
    const total = run.timeoutMs === undefined ? Infinity : run.timeoutMs - this.wrapUpBefore(run.timeoutMs)
    this.arm(run.startedAt + Math.min(first, total))
  }

  /** It has ended. */
  unwatch(run: Watched): void {
    if (this.runs.delete(run) && this.runs.size === 0) this.disarm()
  }

  private arm(at: number): void {
    if (at >= this.dueAt) return
    clearTimeout(this.timer)
    this.dueAt = at
    this.timer = setTimeout(() => { this.check() }, Math.min(Math.max(0, at - Date.now()), longestTimer))
  }

  private disarm(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    this.dueAt = Infinity
  }

  private check(): void {
    this.disarm()
    const now = Date.now()
    let next = Infinity
    for (const run of this.runs) next = Math.min(next, this.nextOf(run, now))
    if (this.runs.size > 0 && next < Infinity) this.arm(next)
  }

  /** Do what is due for `run`. Answers when it is to be looked at again. */
  private nextOf(run: Watched, now: number): number {
    return Math.min(this.total(run, now), this.silence(run, now))
  }

  private total(run: Watched, now: number): number {
    const { startedAt, timeoutMs, agent } = run
    if (timeoutMs === undefined) return Infinity
    const cut: TurnCut = { stopReason: 'timeout', diagnostic: `the child did not end within ${timeoutMs} ms (timeoutMs)` }
    const end = startedAt + timeoutMs
    if (now >= end) {
      run.expire(cut)
      return Infinity
    }
    const wrapUpAt = end - this.wrapUpBefore(timeoutMs)
    if (now < wrapUpAt) return wrapUpAt
    agent?.wrapUp(cut)
    return end
  }

  /** While a child waits for a tool, a child of its own, a slot or the end of a rate limit, nobody expects to hear from it. */
  private silence(run: Watched, now: number): number {
    if (!run.isHeard) return Infinity
    const { progress } = run
    if (progress?.waitsFor !== 'model') return now + this.shortestSilence(run)
    const { heardAt, hasAnswered } = progress
    const [own, key] = hasAnswered ? [this.limits.idleMs, 'deadlines.idleMs'] : [this.limits.firstTokenMs, 'deadlines.firstTokenMs']
    const limit = Math.min(own, run.idleMs ?? own)
    if (now < heardAt + limit) return heardAt + limit
    const said = hasAnswered ? 'fell silent' : 'said nothing'
    run.expire({ stopReason: 'timeout', diagnostic: `the ${run.agent ? 'model' : 'child'} ${said} for ${limit} ms (${limit < own ? 'its provider\'s idle limit' : key})` })
    return Infinity
  }

  private shortestSilence({ idleMs = Infinity }: Watched): number {
    return Math.min(this.limits.firstTokenMs, this.limits.idleMs, idleMs)
  }

  private wrapUpBefore(timeoutMs: number): number {
    return Math.min(this.limits.wrapUpMs, Math.floor(timeoutMs / 5))
  }
}

/** What `setTimeout` can count. */
const longestTimer = 2 ** 31 - 1
