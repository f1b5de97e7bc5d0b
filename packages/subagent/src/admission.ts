import type { Agent } from '@offshoot/agent'
import { SubagentError } from './error.ts'
import { Slot, Tree, type Wait } from './slot.ts'

export interface AdmissionLimits {
  /** Children of one tree that work at once; more wait their turn. */
  readonly concurrentPerTree: number
  /** Children of all trees that work at once. */
  readonly concurrent: number
  /** Children that one tree starts in its life. */
  readonly startsPerTree: number
  /** Tokens that one tree uses, its root included. Absent: no limit. */
  readonly tokensPerTree?: number
  /** How long a child waits for its turn to begin. */
  readonly queueTimeoutMs: number
}

/** What the ledger has to know of the runs it admits. */
export interface AdmissionView {
  /** Tokens that the tree of `root` has used so far. */
  tokensOf(root: Agent): number
  /** Who works below `root`, in a few words each. */
  workersOf(root: Agent): string[]
}

const shownWorkers = 8

/** The ledger of what children may do at once, and in all: every start pays it, whichever way it came. It refuses or queues, and never evicts. */
export class Admission {
  readonly limits: AdmissionLimits
  private readonly view: AdmissionView
  private readonly trees = new WeakMap<Agent, Tree>()
  /** Trees in which somebody waits. */
  private readonly queues = new Set<Tree>()
  private held = 0
  private counter = 0

  constructor(limits: AdmissionLimits, view: AdmissionView) {
    this.limits = limits
    this.view = view
  }

  /**
   * Count a start below `parent`, and give it a slot: held already where one is free.
   *
   * @throws {SubagentError} `START_LIMIT` or `TOKEN_LIMIT`.
   */
  enter(parent: Agent): Slot {
    const tree = this.treeOf(parent)
    const { startsPerTree } = this.limits
    if (tree.starts >= startsPerTree) {
      throw new SubagentError('START_LIMIT', `this tree of agents has started ${tree.starts} children and may start ${startsPerTree} (limits.startsPerTree); ${this.workers(tree)}; do the rest of the task yourself`)
    }
    const overTokens = this.overTokens(tree)
    if (overTokens !== undefined) throw new SubagentError('TOKEN_LIMIT', `${overTokens}; ${this.workers(tree)}; finish with what you have`)
    tree.starts++
    const slot = new Slot(this, tree)
    this.tryHold(slot)
    return slot
  }

  /** The start came to nothing: it counts for nothing. */
  undo(slot: Slot): void {
    slot.free()
    slot.tree.starts--
  }

  /** Wait until `slot`, fresh from `enter()`, is held. Rejects with the reason of `signal`, or `QUEUE_TIMEOUT`. */
  wait(slot: Slot, signal: AbortSignal): Promise<void> {
    const { queueTimeoutMs } = this.limits
    return slot.wait('starts', signal, queueTimeoutMs, () => new SubagentError('QUEUE_TIMEOUT',
      `no slot came free within ${queueTimeoutMs} ms (limits.queueTimeoutMs): ${this.full(slot.tree)}; ${this.workers(slot.tree)}; wait for one of them to end, or do the task yourself`))
  }

  /** Why the tree may use no more tokens, if it may not. */
  overTokens(tree: Tree): string | undefined {
    const { tokensPerTree } = this.limits
    if (tokensPerTree === undefined) return undefined
    const used = this.view.tokensOf(tree.root)
    return used < tokensPerTree ? undefined : `this tree of agents has used ${used} tokens and may use ${tokensPerTree} (limits.tokensPerTree)`
  }

  /** Hold `slot` at once, if it is free and nobody was there before. */
  tryHold(slot: Slot): boolean {
    if (slot.tree.next || !this.hasRoom(slot.tree)) return false
    this.hold(slot)
    return true
  }

  /** Stand in line; the returned function leaves it. `go` is called once the slot is held. */
  queue(slot: Slot, line: 'resumes' | 'starts', go: () => void): () => void {
    const { tree } = slot
    const wait: Wait = { slot, number: ++this.counter, go }
    const queue = tree.waiting[line]
    queue.push(wait)
    this.queues.add(tree)
    this.admit()
    return () => {
      const i = queue.indexOf(wait)
      if (i >= 0) queue.splice(i, 1)
      if (!tree.next) this.queues.delete(tree)
    }
  }

  release(slot: Slot, state: 'given-back' | 'freed'): void {
    slot.state = state
    slot.tree.held--
    this.held--
    if (this.queues.size > 0) this.admit()
  }

  private hold(slot: Slot): void {
    slot.state = 'held'
    slot.tree.held++
    this.held++
  }

  /** Let in who may come, the longest waiting first. */
  private admit(): void {
    for (;;) {
      let first: Wait | undefined
      for (const tree of this.queues) {
        const { next } = tree
        if (next && this.hasRoom(tree) && (!first || next.number < first.number)) first = next
      }
      if (!first) return
      const { slot: { tree }, slot } = first
      const { resumes, starts } = tree.waiting
      if (resumes[0] === first) resumes.shift()
      else starts.shift()
      if (!tree.next) this.queues.delete(tree)
      this.hold(slot)
      first.go()
    }
  }

  private hasRoom({ held }: Tree): boolean {
    return held < this.limits.concurrentPerTree && this.held < this.limits.concurrent
  }

  private treeOf(agent: Agent): Tree {
    let root = agent
    while (root.parent) root = root.parent
    let tree = this.trees.get(root)
    if (!tree) this.trees.set(root, tree = new Tree(root))
    return tree
  }

  private full({ held }: Tree): string {
    const { concurrentPerTree, concurrent } = this.limits
    return held >= concurrentPerTree
      ? `${held} children of this tree work and ${concurrentPerTree} may (limits.concurrentPerTree)`
      : `${this.held} children of this app work and ${concurrent} may (limits.concurrent)`
  }

  private workers({ root }: Tree): string {
    const workers = this.view.workersOf(root)
    if (workers.length === 0) return 'none of this tree works now'
    const more = workers.length > shownWorkers ? ` and ${workers.length - shownWorkers} more` : ''
    return `at work: ${workers.slice(0, shownWorkers).join(', ')}${more}`
  }
}
