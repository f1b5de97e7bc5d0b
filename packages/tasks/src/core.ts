import { type Agent, type Notify, onAbort } from '@offshoot/agent'
import { suggest } from '@offshoot/problems'
import { TaskError } from './error.ts'
import { TaskRecord } from './record.ts'
import type { Task, TaskSpec } from './types.ts'

export interface TaskLimits {
  readonly maxRunningPerOwner: number
  readonly stopGraceMs: number
  readonly inlineBytes: number
}

export interface WaitOptions {
  /** Default: no limit. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** How many settled tasks are kept for reading. The oldest that their owners know of go first. */
const keptSettled = 1000

const validKind = /^[a-z][a-z0-9-]{0,31}$/

/** The plain core behind `ctx.tasks`: plugins on a hot path take it once and keep it. */
export class TaskCore {
  readonly limits: TaskLimits
  readonly notify: Notify
  readonly log: (error: unknown) => void
  private readonly records = new Map<string, TaskRecord>()
  private readonly counters = new Map<string, number>()
  private isClosed = false

  constructor(limits: TaskLimits, notify: Notify, log: (error: unknown) => void) {
    this.limits = limits
    this.notify = notify
    this.log = log
  }

  start(spec: TaskSpec): Task {
    const { kind, owner } = spec
    if (!validKind.test(kind)) throw new TaskError('INVALID_TASK', `task kind "${kind}" must be 1 to 32 lower-case letters, digits or "-"`)
    if (this.isClosed) throw new TaskError('INVALID_TASK', 'background tasks are being unloaded, and no new one can start')
    if (owner.state === 'disposed') throw new TaskError('INVALID_TASK', `agent ${owner.id} is disposed and can own no task`)
    const running = this.runningOf(owner)
    const { maxRunningPerOwner } = this.limits
    if (spec.counts !== false && running.length >= maxRunningPerOwner) {
      throw new TaskError('OWNER_LIMIT', `${running.length} background tasks are running and ${maxRunningPerOwner} may (maxRunningPerOwner); wait for one to end, or kill one (${running.map(({ id }) => id).join(', ')})`)
    }
    const n = (this.counters.get(kind) ?? 0) + 1
    this.counters.set(kind, n)
    const record = new TaskRecord(this, `${kind}-${n}`, spec)
    this.records.set(record.id, record)
    this.forgetOldest()
    this.notify('task/started', record)
    record.begin()
    return record
  }

  /** Of `owner`, or all: oldest first. */
  list(owner?: Agent): Task[] {
    const records = [...this.records.values()]
    return owner ? records.filter(record => record.owner === owner) : records
  }

  get(id: string, owner?: Agent): Task | undefined {
    const record = this.records.get(id)
    return owner && record?.owner !== owner ? undefined : record
  }

  /** @throws {TaskError} `UNKNOWN_TASK`, with the ids that `owner` has. */
  need(id: string, owner?: Agent): TaskRecord {
    const record = this.records.get(id)
    if (record && (!owner || record.owner === owner)) return record
    throw new TaskError('UNKNOWN_TASK', `no task "${id}"${suggest(id, this.list(owner).map(task => task.id), owner ? 'your tasks' : 'tasks')}`)
  }

  async wait(id: string, { timeoutMs, signal }: WaitOptions = {}, owner?: Agent): Promise<Task> {
    const record = this.need(id, owner)
    if (record.isSettled) return record
    signal?.throwIfAborted()
    let timer: NodeJS.Timeout | undefined
    let unlink: (() => void) | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        void record.settled.then(resolve)
        if (timeoutMs !== undefined) timer = setTimeout(resolve, timeoutMs)
        if (signal) unlink = onAbort(signal, () => { reject(signal.reason as Error) })
      })
    } finally {
      clearTimeout(timer)
      unlink?.()
    }
    return record
  }

  async kill(id: string, reason: string, owner?: Agent): Promise<Task> {
    const record = this.need(id, owner)
    record.kill(reason)
    await record.settled
    return record
  }

  /** Somebody has read the outcome of a task that has settled: nothing is left to tell. Nothing for one that is not there any more. */
  consume(id: string): void {
    this.records.get(id)?.consume()
  }

  /** End everything that runs for `owner`. */
  killAll(owner: Agent, reason: string): void {
    for (const record of this.records.values()) if (record.owner === owner) record.kill(reason)
  }

  /** The owner is gone: what it never heard of is announced, and stays readable. */
  ownerGone(owner: Agent): void {
    for (const record of this.records.values()) if (record.owner === owner) record.abandon()
  }

  orphaned(task: Task): void {
    this.notify('task/orphaned', task)
  }

  /** End everything, and settle once nothing runs. Owners that live on are still told. */
  async drain(): Promise<void> {
    this.isClosed = true
    const records = [...this.records.values()]
    for (const record of records) record.kill('background tasks are being unloaded')
    await Promise.all(records.map(record => record.settled))
    for (const record of records) if (record.owner.state === 'disposed') record.abandon()
  }

  private runningOf(owner: Agent): TaskRecord[] {
    return [...this.records.values()].filter(record => record.owner === owner && record.counts && !record.isSettled)
  }

  private forgetOldest(): void {
    if (this.records.size <= keptSettled) return
    for (const [id, record] of this.records) {
      if (record.isSettled && (record.delivery !== 'undelivered' || record.owner.state === 'disposed')) this.records.delete(id)
      if (this.records.size <= keptSettled) return
    }
  }
}
