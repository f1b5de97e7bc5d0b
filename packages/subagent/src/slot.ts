import { type Agent, type AgentSlot, onAbort, type TurnCut } from '@offshoot/agent'
import type { Admission } from './admission.ts'

/** Everything below one root agent: what it shares, and who waits for a share. */
export class Tree {
  readonly root: Agent
  /** Children that work now. */
  held = 0
  /** Children started so far, those included that are being started. */
  starts = 0
  /** Who waits, in order: those that want to go on before those that want to begin. */
  readonly waiting: { readonly resumes: Wait[], readonly starts: Wait[] } = { resumes: [], starts: [] }

  constructor(root: Agent) {
    this.root = root
  }

  get next(): Wait | undefined {
    return this.waiting.resumes[0] ?? this.waiting.starts[0]
  }
}

/** One place in the queue. */
export interface Wait {
  readonly slot: Slot
  /** Its turn among all that wait. */
  readonly number: number
  readonly go: () => void
}

/** One child's share of what its tree and the app may do at once: held while it works. */
export class Slot implements AgentSlot {
  readonly tree: Tree
  state: 'waiting' | 'held' | 'given-back' | 'freed' = 'waiting'
  private readonly admission: Admission

  constructor(admission: Admission, tree: Tree) {
    this.admission = admission
    this.tree = tree
  }

  take(signal: AbortSignal): Promise<void> | undefined {
    if (this.state === 'held' || this.state === 'freed') return undefined
    return this.admission.tryHold(this) ? undefined : this.wait('resumes', signal)
  }

  giveBack(): void {
    if (this.state === 'held') this.admission.release(this, 'given-back')
  }

  /** The child has ended, or never came. Idempotent. */
  free(): void {
    if (this.state === 'held') this.admission.release(this, 'freed')
    else this.state = 'freed'
  }

  refusal(): TurnCut | undefined {
    const diagnostic = this.admission.overTokens(this.tree)
    return diagnostic === undefined ? undefined : { stopReason: 'budget', diagnostic }
  }

  /** Wait for it. Rejects with the reason of `signal`, or with `onTimeout()` after `timeoutMs`. */
  async wait(line: 'resumes' | 'starts', signal: AbortSignal, timeoutMs?: number, onTimeout?: () => Error): Promise<void> {
    const { admission } = this
    let timer: NodeJS.Timeout | undefined
    let unlink: (() => void) | undefined
    let leave: (() => void) | undefined
    try {
      signal.throwIfAborted()
      await new Promise<void>((resolve, reject) => {
        leave = admission.queue(this, line, resolve)
        unlink = onAbort(signal, () => { reject(signal.reason as Error) })
        if (timeoutMs !== undefined && onTimeout) timer = setTimeout(() => { reject(onTimeout()) }, timeoutMs)
      })
    } finally {
      clearTimeout(timer)
      unlink?.()
      leave?.()
    }
  }
}
