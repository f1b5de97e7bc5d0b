import type { Agent, Notice } from '@offshoot/agent'
import type { TaskCore } from './core.ts'
import { noticeText } from './notice.ts'
import type { Task, TaskOutcome, TaskSpec } from './types.ts'

/** First retry of a notice that could not be handed to its owner, and the longest wait between two. */
const retryMs = { first: 100, most: 30_000 }

/** Of a result that a brief notice carries itself: about as long as the pointer to it. */
const briefBytes = 96

/**
 * One task, from its start until nobody needs it any more. Its ledger is one way:
 * it settles once, its owner is told or collects it once, and both are told apart.
 */
export class TaskRecord implements Task, Notice {
  readonly id: string
  readonly kind: string
  readonly label: string
  readonly owner: Agent
  readonly notice: Task['notice']
  readonly counts: boolean
  readonly startedAt: number = Date.now()
  status: Task['status'] = 'running'
  delivery: Task['delivery'] = 'undelivered'
  settledAt?: number
  outcome?: TaskOutcome
  reason?: string
  /** Settles when the task does. */
  readonly settled: Promise<void>
  private readonly core: TaskCore
  /** Let go with the work: its functions hold on to the child. */
  private spec: TaskSpec | undefined
  private readonly controller = new AbortController()
  private readonly release: () => void
  private resolve!: () => void
  private stopTimer: NodeJS.Timeout | undefined
  private retryTimer: NodeJS.Timeout | undefined
  private isOrphan = false

  constructor(core: TaskCore, id: string, spec: TaskSpec) {
    this.core = core
    this.id = id
    this.spec = spec
    this.kind = spec.kind
    this.label = spec.label
    this.owner = spec.owner
    this.notice = spec.notice ?? 'owner'
    this.counts = spec.counts ?? true
    this.settled = new Promise(resolve => { this.resolve = resolve })
    this.release = spec.owner.hold()
  }

  get activity(): Task['activity'] {
    return this.spec?.activity?.()
  }

  get isSettled(): boolean {
    return this.outcome !== undefined
  }

  /** Begin the work, unless the task was killed by then. Called once, after the task can be found by its id. */
  begin(): void {
    const { spec, controller } = this
    if (controller.signal.aborted) {
      this.settle({ status: 'killed' })
      return
    }
    const run = async (): Promise<TaskOutcome> => spec!.run(controller.signal, this)
    run().then(
      outcome => { this.settle(checked(outcome)) },
      (error: unknown) => { this.settle({ status: 'failed', error: error instanceof Error ? error.message : String(error) }) },
    )
  }

  /** Ask the work to end. Work that has not ended within the grace is given up as failed. */
  kill(reason: string): void {
    if (this.isSettled) {
      // Its owner leaves, and would wait for the next try otherwise.
      if (this.owner.state === 'disposed') this.stopTelling()
      return
    }
    if (this.status === 'stopping') return
    this.status = 'stopping'
    this.reason = reason
    const { stopGraceMs } = this.core.limits
    this.stopTimer = setTimeout(() => { this.settle({ status: 'failed', error: `it did not stop within ${stopGraceMs} ms` }) }, stopGraceMs)
    this.controller.abort(new Error(reason))
  }

  /** Its owner, or code in its place, has read the outcome: nothing is left to tell. */
  consume(): void {
    if (!this.isSettled) return
    this.delivery = 'consumed'
    this.stopTelling()
  }

  /** The notice, as long as its owner has not heard of the outcome otherwise. */
  text(brief = false): string | undefined {
    const { inlineBytes } = this.core.limits
    return this.delivery === 'undelivered' ? noticeText(this, brief ? Math.min(briefBytes, inlineBytes) : inlineBytes) : undefined
  }

  delivered(): void {
    if (this.delivery === 'undelivered') this.delivery = 'delivered'
  }

  /** Its owner is gone: nobody is told any more, and that is announced once. */
  abandon(): void {
    this.stopTelling()
    if (!this.isSettled || this.notice === 'none' || this.isOrphan || this.delivery !== 'undelivered') return
    this.isOrphan = true
    this.core.orphaned(this)
  }

  private settle(outcome: TaskOutcome): void {
    if (this.isSettled) return
    clearTimeout(this.stopTimer)
    this.outcome = Object.freeze(outcome)
    this.status = outcome.status
    this.settledAt = Date.now()
    this.spec = undefined
    this.resolve()
    this.core.notify('task/settled', this)
    if (this.notice === 'none') this.release()
    else this.announce(retryMs.first)
  }

  // The owner is held until it has the notice, so that it does not count as quiet in between.
  private announce(nextRetryMs: number): void {
    if (this.owner.state === 'disposed' || this.delivery === 'consumed') {
      this.release()
      return
    }
    try {
      this.owner.inject(this)
      this.release()
    } catch (error) {
      this.core.log(error)
      this.retryTimer = setTimeout(() => { this.announce(Math.min(nextRetryMs * 2, retryMs.most)) }, nextRetryMs)
    }
  }

  private stopTelling(): void {
    clearTimeout(this.retryTimer)
    this.release()
  }
}

function checked(outcome: TaskOutcome): TaskOutcome {
  switch (outcome?.status) {
    case 'completed':
      if (typeof outcome.output === 'string') return outcome
      break
    case 'failed':
      if (typeof outcome.error === 'string') return outcome
      break
    case 'killed':
      return outcome
    default:
  }
  return { status: 'failed', error: 'the work ended with something that is no outcome' }
}
