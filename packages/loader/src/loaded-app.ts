import type { Context, Fiber } from 'cordis'
import { type Problem, ProblemsService } from '@offshoot/problems'
import { Deadline } from './deadline.ts'
import { describeError } from './describe.ts'
import { AppError, type AppProblem } from './error.ts'
import { FiberWatch } from './fibers.ts'
import { Findings } from './findings.ts'
import { Judge } from './judge.ts'
import { LogForward, type LogSink, logToStderr } from './log.ts'
import { flatten, type Mount, Mounter } from './mount.ts'
import { parse } from './parse.ts'
import { Preparation } from './prepare.ts'
import { readConfig } from './read.ts'
import { flattenPlaces, type Place, placesOf, reconcile } from './reconcile.ts'
import { Resolver, shorten } from './resolve.ts'
import type { App, LoadOptions, ReloadResult } from './types.ts'

const LOAD_TIMEOUT = 60_000
/** At most how long the others get to unload once a plugin did not finish loading. */
const HUNG_GRACE = 1_000

/** The app of one config file, from its start to its end. */
export class LoadedApp implements App {
  readonly ctx: Context
  readonly file: string
  private readonly options: LoadOptions
  private readonly log: LogSink
  private readonly logForward: LogForward
  private readonly mounter = new Mounter()
  private readonly judge: Judge
  private readonly fibers: FiberWatch
  private mounts: readonly Mount[] = []
  private readonly timeoutMs: number
  /** Something does not end, and is not waited for for long. */
  private hung = false
  private readonly stuck = new WeakSet<Mount>()
  private disposal: Promise<void> | undefined
  private reloads: Promise<unknown> = Promise.resolve()
  /** Of the step that a reload is at. */
  private deadline: Deadline | undefined

  constructor(ctx: Context, file: string, options: LoadOptions) {
    this.ctx = ctx
    this.file = file
    this.options = options
    this.timeoutMs = options.timeoutMs ?? LOAD_TIMEOUT
    this.log = options.log ?? logToStderr
    const { mounter, log } = this
    this.judge = new Judge(this.findings(), { ctx, mounter, log, onProblem: options.onProblem, mounts: () => this.mounts })
    this.logForward = new LogForward(ctx, log, error => this.judge.isReported(error))
    this.fibers = new FiberWatch(ctx, {
      onCreate: fiber => mounter.adopt(fiber),
      onFailure: (fiber, error) => this.judge.fail(fiber, error),
    })
  }

  get entries(): readonly string[] {
    return flatten(this.mounts).map(({ entry }) => entry.id)
  }

  /** Starts what `text` describes, and answers what is wrong with it. */
  async load(text: string): Promise<AppProblem[]> {
    const { ctx, judge } = this
    const deadline = new Deadline(this.timeoutMs)
    const findings = this.findings()
    judge.open(findings)
    try {
      const resolver = this.resolver()
      const { mounts, lost } = await this.prepare(text, resolver, findings, deadline)
      if (!mounts) return findings.list()
      judge.lose(lost)
      this.mounts = mounts
      await ctx.plugin(ProblemsService, {
        locate: (inner: Context) => judge.locate(inner),
        onReport: (problem: Problem) => judge.hear(problem),
      })
      this.mounter.complete(ctx, mounts)
      if (await deadline.limit(this.fibers.settle()) === 'expired') this.findHung()
      else judge.judge(this.fibers, resolver, [])
      if (findings.size === 0) judge.pass()
      return findings.list()
    } finally {
      deadline.clear()
    }
  }

  reload(): Promise<ReloadResult> {
    const reload = this.reloads.then(() => this.takeOver())
    this.reloads = reload.catch(() => {})
    return reload
  }

  dispose(): Promise<void> {
    return this.disposal ??= this.close()
  }

  private async takeOver(): Promise<ReloadResult> {
    this.refuseIfClosing()
    const text = readConfig(this.file)
    const findings = this.findings()
    const resolver = this.resolver()
    const { mounts } = await this.timed(deadline => this.prepare(text, resolver, findings, deadline))
    if (!mounts || findings.size > 0) throw new AppError('INVALID', findings.list())
    const before = placesOf(this.mounts)
    const failures = this.fibers.failures()
    const spent = this.spentBy(failures, failures)
    const { places, changes } = reconcile(this.mounts, mounts, spent)
    const problems = await this.arrange(places, spent, resolver)
    if (problems.length === 0) return changes
    const failed = this.spentBy(this.fibers.failures(), failures)
    const left = await this.arrange(before, failed, resolver)
    throw new AppError(left.length ? 'NOT_RESTORED' : 'INVALID', [
      ...problems,
      ...left.map(problem => ({ ...problem, message: `${problem.message} (as it was before, too)` })),
    ])
  }

  /** Makes `places` what runs, the `spent` ones anew, and answers what is wrong once that has settled. */
  private async arrange(places: readonly Place[], spent: ReadonlySet<Mount>, resolver: Resolver): Promise<AppProblem[]> {
    const { fibers, judge } = this
    const findings = this.findings()
    const standing = judge.complaints()
    const all = flattenPlaces(places)
    const staying = new Set(all.map(({ mount }) => mount).filter(mount => !spent.has(mount)))
    const leaving = flatten(this.mounts).filter(mount => !staying.has(mount)).reverse()
    judge.open(findings)
    for (const { mount, entry, children } of all) Object.assign(mount, { entry, children: children.map(child => child.mount) })
    this.mounts = places.map(({ mount }) => mount)
    for (const mount of leaving) await this.takeOut(mount)
    this.mounter.complete(this.ctx, this.mounts)
    const settled = await this.timed(deadline => deadline.limit(fibers.settle()))
    if (settled === 'expired') this.findHung()
    else judge.judge(fibers, resolver, standing)
    judge.pass()
    return findings.list()
  }

  /** What does not end is left to itself: nothing waits for it any more. */
  private async takeOut(mount: Mount): Promise<void> {
    const removal = remove(mount)
    // What hangs as it loads does not unload either.
    const isStuck = this.stuck.has(mount)
    if (!isStuck && await this.timed(deadline => deadline.limit(removal)) !== 'expired') return
    this.hung = true
    this.fibers.abandon(fiber => this.mounter.ownerOf(fiber) === mount)
    if (!isStuck) this.judge.add(mount, `is still unloading after ${seconds(this.timeoutMs)}`)
  }

  /**
   * What failed is not started again by itself, nor with what it waits for. That a plugin within another one had failed
   * `before` is no reason to mount the one around it anew.
   */
  private spentBy(failures: readonly Fiber[], before: readonly Fiber[]): Set<Mount> {
    return new Set(failures.flatMap((fiber) => {
      const owner = this.mounter.ownerOf(fiber)
      return owner && (owner.fiber === fiber || !before.includes(fiber)) ? [owner] : []
    }))
  }

  /** What `text` describes, as far as it can run; no mounts where that takes too long to find out. */
  private async prepare(text: string, resolver: Resolver, findings: Findings, deadline: Deadline): Promise<{ mounts?: Mount[], lost: ReadonlySet<string> }> {
    const preparation = new Preparation(this.ctx, resolver, this.mounter, findings, this.options.modules)
    const { lost } = preparation
    const mounts = await deadline.limit(preparation.prepareAll(parse(text, findings)))
    if (mounts !== 'expired') return { mounts, lost }
    for (const entry of preparation.importing) findings.addToEntry(entry, `its module is still being imported after ${seconds(this.timeoutMs)}`)
    return { lost }
  }

  /** A step of a reload, and the time it has; it is cut short when the app ends. */
  private async timed<T>(step: (deadline: Deadline) => Promise<T>): Promise<T> {
    this.refuseIfClosing()
    const deadline = this.deadline = new Deadline(this.timeoutMs)
    try {
      const result = await step(deadline)
      this.refuseIfClosing()
      return result
    } finally {
      deadline.clear()
      this.deadline = undefined
    }
  }

  /** @throws {AppError} `CLOSED` once the app ends. */
  private refuseIfClosing(): void {
    if (this.disposal) throw new AppError('CLOSED', [{ where: shorten(this.file), message: 'the app ends, and takes no new config; load it again' }])
  }

  private findings(): Findings {
    return new Findings(shorten(this.file))
  }

  private resolver(): Resolver {
    return new Resolver(this.file, this.options.resolveFrom, this.options.conditions)
  }

  private findHung(): void {
    this.hung = true
    for (const mount of this.judge.findHung(this.fibers, seconds(this.timeoutMs))) this.stuck.add(mount)
  }

  private async close(): Promise<void> {
    this.judge.close()
    this.deadline?.end()
    await this.reloads
    await this.drainAgents()
    const patience = new Deadline(this.hung ? Math.min(HUNG_GRACE, this.timeoutMs) : Infinity)
    try {
      for (const mount of flatten(this.mounts).reverse()) await patience.limit(remove(mount))
      await patience.limit(this.ctx.fiber.dispose())
    } catch (error) {
      this.log('error', 'app', describeError(error))
    } finally {
      patience.clear()
      this.logForward.flush()
    }
  }

  /** Agents belong to a package above this one; what it is known by here is the method. */
  private async drainAgents(): Promise<void> {
    const agents = this.ctx.get('agents') as { drain?: () => Promise<void> } | undefined
    try {
      await agents?.drain?.()
    } catch (error) {
      this.log('error', 'app', `agents did not drain: ${describeError(error)}`)
    }
  }
}

async function remove({ fiber }: Mount): Promise<void> {
  if (!fiber) return
  await fiber.dispose()
  while (fiber.inertia) await fiber.inertia
}

function seconds(ms: number): string {
  return `${ms / 1000} s`
}
