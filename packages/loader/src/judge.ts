import type { Context, Fiber } from 'cordis'
import type { Problem } from '@offshoot/problems'
import { describeError, errorChain, firstLine } from './describe.ts'
import type { AppProblem } from './error.ts'
import { explainFailure, within } from './failure.ts'
import { type FiberWatch, isOptional } from './fibers.ts'
import type { Findings } from './findings.ts'
import type { LogSink } from './log.ts'
import { flatten, type Mount, type Mounter } from './mount.ts'
import type { Resolver } from './resolve.ts'
import { explainWaits } from './waits.ts'

export interface JudgeOptions {
  readonly ctx: Context
  readonly mounter: Mounter
  readonly log: LogSink
  readonly onProblem: ((problem: AppProblem) => void) | undefined
  /** What the app consists of at the moment. */
  readonly mounts: () => readonly Mount[]
}

/** What a plugin says is wrong. */
export interface Complaint {
  readonly owner: Mount | undefined
  readonly message: string
  readonly error: Error | undefined
}

/** Finds what is wrong with an app. While the app changes that goes to findings, and once it runs to those who listen. */
export class Judge {
  private readonly options: JudgeOptions
  private findings: Findings
  private stage: 'changing' | 'running' | 'closing' = 'changing'
  private readonly reported = new WeakSet<object>()
  /** Services that entries which failed would have provided. */
  private readonly lost = new Set<string>()

  constructor(findings: Findings, options: JudgeOptions) {
    this.findings = findings
    this.options = options
  }

  /** The app begins to change. */
  open(findings: Findings): void {
    this.stage = 'changing'
    this.findings = findings
    this.lost.clear()
  }

  /** The app runs as it is to. */
  pass(): void {
    this.stage = 'running'
  }

  /** The app ends: what goes wrong from now on is for the log alone. */
  close(): void {
    this.stage = 'closing'
  }

  isReported(error: unknown): boolean {
    return typeof error === 'object' && error !== null && this.reported.has(error)
  }

  lose(services: Iterable<string>): void {
    for (const service of services) this.lost.add(service)
  }

  locate(ctx: Context): string | undefined {
    const owner = this.options.mounter.ownerOf(ctx.fiber)
    return owner && this.findings.where(owner.entry.at)
  }

  fail(fiber: Fiber, error: unknown): void {
    if (this.stage === 'closing') return
    const { mounter } = this.options
    const chain = [...errorChain(error)]
    const known = chain.some(part => this.reported.has(part))
    for (const part of chain) this.reported.add(part)
    // The same error from the plugin around the one that failed, or a second look at one fiber.
    if (known) return
    const owner = mounter.ownerOf(fiber)
    this.lose(owner?.services() ?? [])
    for (const message of explainFailure(fiber, error, mounter, this.findings)) this.add(owner, message, error)
  }

  /** What a plugin reports while the app changes is read from the service once it has settled. */
  hear(problem: Problem): void {
    if (this.stage === 'running') this.addComplaint(this.complaintOf(problem))
  }

  /** What plugins say is wrong at this moment. */
  complaints(): Complaint[] {
    return this.options.ctx.problems.list().map(problem => this.complaintOf(problem))
  }

  /** Judges an app that has settled: who waits in vain, and what plugins have to say beside what is `standing`. */
  judge(fibers: FiberWatch, resolver: Resolver, standing: readonly Complaint[]): void {
    const { ctx, mounter } = this.options
    const waits = fibers.waiting().flatMap((fiber) => {
      const mount = mounter.ownerOf(fiber)
      return mount && (fiber === mount.fiber || !isOptional(fiber)) ? [{ mount, fiber }] : []
    })
    const { store } = ctx.reflect
    const explained = explainWaits(waits, {
      lost: this.lost,
      present: new Set(Object.getOwnPropertySymbols(store).flatMap(key => store[key]?.name ?? [])),
      providersOf: service => resolver.packages.providersOf(service),
      where: entry => this.findings.where(entry.at),
    })
    for (const { mount, fiber, message } of explained) this.add(mount, `${within(fiber, mount)}${message}`)
    for (const complaint of this.complaints()) {
      if (!standing.some(({ owner, message }) => owner === complaint.owner && message === complaint.message)) this.addComplaint(complaint)
    }
  }

  /** Names what is still loading. Answers the entries that it belongs to. */
  findHung(fibers: FiberWatch, time: string): Mount[] {
    const busy = fibers.busy()
    return busy.filter(outer => !busy.some(inner => inner.parent.fiber === outer)).flatMap((fiber) => {
      const owner = this.options.mounter.ownerOf(fiber)
      this.add(owner, `${within(fiber, owner)}is still loading after ${time}; what its start-up awaits has not come`)
      return owner ?? []
    })
  }

  add(owner: Mount | undefined, message: string, error?: unknown): void {
    if (this.stage === 'changing') return this.findings.addToEntry(owner?.entry, message, error)
    const problem = this.findings.describe(owner?.entry, message, error)
    const { log, onProblem = ({ where, message: text }: AppProblem) => log('error', 'app', `${where}: ${text}`) } = this.options
    try {
      onProblem(problem)
    } catch (thrown) {
      log('error', 'app', `onProblem: ${describeError(thrown)}`)
    }
  }

  private complaintOf({ where, message, error }: Problem): Complaint {
    const owner = flatten(this.options.mounts()).find(({ entry }) => this.findings.where(entry.at) === where)
    return { owner, message: firstLine(message), error }
  }

  private addComplaint({ owner, message, error }: Complaint): void {
    if (error && this.reported.has(error)) return
    if (error) this.reported.add(error)
    this.add(owner, message, error)
  }
}
