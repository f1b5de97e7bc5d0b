import type { Context, Fiber } from 'cordis'
import { type Problem, ProblemsService } from '@offshoot/problems'
import { Deadline } from './deadline.ts'
import { describeError, errorChain, firstLine } from './describe.ts'
import type { AppProblem } from './error.ts'
import { explainFailure, within } from './failure.ts'
import { FiberWatch, isOptional } from './fibers.ts'
import { Findings } from './findings.ts'
import { LogForward, type LogSink, logToStderr } from './log.ts'
import { flatten, type Mount, Mounter } from './mount.ts'
import { parse } from './parse.ts'
import { Preparation } from './prepare.ts'
import { Resolver, shorten } from './resolve.ts'
import type { App, LoadOptions } from './types.ts'
import { explainWaits } from './waits.ts'

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
  private readonly findings: Findings
  private readonly mounter = new Mounter()
  private readonly fibers: FiberWatch
  private readonly reported = new WeakSet<object>()
  /** Services that entries which failed would have provided. */
  private readonly lost = new Set<string>()
  private mounts: readonly Mount[] = []
  private stage: 'loading' | 'running' | 'closing' = 'loading'
  private readonly timeoutMs: number
  private hung = false
  private disposal: Promise<void> | undefined

  constructor(ctx: Context, file: string, options: LoadOptions) {
    this.ctx = ctx
    this.file = file
    this.options = options
    this.timeoutMs = options.timeoutMs ?? LOAD_TIMEOUT
    this.log = options.log ?? logToStderr
    this.logForward = new LogForward(ctx, this.log, error => isObject(error) && this.reported.has(error))
    this.findings = new Findings(shorten(file))
    this.fibers = new FiberWatch(ctx, {
      onCreate: fiber => this.mounter.adopt(fiber),
      onFailure: (fiber, error) => this.fail(fiber, error),
    })
  }

  /** Starts what `text` describes, and answers what is wrong with it. */
  async load(text: string): Promise<AppProblem[]> {
    const { resolveFrom, conditions } = this.options
    const { ctx, findings, timeoutMs } = this
    const deadline = new Deadline(timeoutMs)
    try {
      const resolver = new Resolver(this.file, resolveFrom, conditions)
      const preparation = new Preparation(ctx, resolver, this.mounter, findings)
      const mounts = await deadline.limit(preparation.prepareAll(parse(text, findings)))
      for (const service of preparation.lost) this.lost.add(service)
      if (mounts === 'expired') {
        for (const entry of preparation.importing) findings.addToEntry(entry, `its module is still being imported after ${seconds(timeoutMs)}`)
        return findings.list()
      }
      this.mounts = mounts
      await ctx.plugin(ProblemsService, {
        locate: (inner: Context) => this.locate(inner),
        onReport: (problem: Problem) => this.hear(problem),
      })
      this.mounter.mount(ctx, mounts)
      if (await deadline.limit(this.fibers.settle()) === 'expired') this.findHung()
      else this.judge(resolver)
      if (findings.size === 0) this.stage = 'running'
      return findings.list()
    } finally {
      deadline.clear()
    }
  }

  dispose(): Promise<void> {
    return this.disposal ??= this.close()
  }

  private async close(): Promise<void> {
    this.stage = 'closing'
    const patience = new Deadline(this.hung ? Math.min(HUNG_GRACE, this.timeoutMs) : Infinity)
    try {
      await patience.limit(this.drainAgents())
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

  private locate(ctx: Context): string | undefined {
    const owner = this.mounter.ownerOf(ctx.fiber)
    return owner && this.findings.where(owner.entry.at)
  }

  private fail(fiber: Fiber, error: unknown): void {
    if (this.stage === 'closing') return
    const chain = [...errorChain(error)]
    const known = chain.some(part => this.reported.has(part))
    for (const part of chain) this.reported.add(part)
    // The same error from the plugin around the one that failed, or a second look at one fiber.
    if (known) return
    const owner = this.mounter.ownerOf(fiber)
    for (const service of owner?.services() ?? []) this.lost.add(service)
    for (const message of explainFailure(fiber, error, this.mounter, this.findings)) this.add(owner, message, error)
  }

  /** What a plugin reports while the app loads is read from the service once it has settled. */
  private hear(problem: Problem): void {
    if (this.stage === 'running') this.addReported(problem)
  }

  private addReported({ where, message, error }: Problem): void {
    if (error && this.reported.has(error)) return
    if (error) this.reported.add(error)
    this.add(flatten(this.mounts).find(({ entry }) => this.findings.where(entry.at) === where), firstLine(message), error)
  }

  private add(owner: Mount | undefined, message: string, error?: unknown): void {
    if (this.stage === 'loading') return this.findings.addToEntry(owner?.entry, message, error)
    const problem = this.findings.describe(owner?.entry, message, error)
    const { onProblem = ({ where, message: text }: AppProblem) => this.log('error', 'app', `${where}: ${text}`) } = this.options
    try {
      onProblem(problem)
    } catch (thrown) {
      this.log('error', 'app', `onProblem: ${describeError(thrown)}`)
    }
  }

  /** Judges an app that has settled: who waits in vain, and what plugins have to say. */
  private judge(resolver: Resolver): void {
    const waits = this.fibers.waiting().flatMap((fiber) => {
      const mount = this.mounter.ownerOf(fiber)
      return mount && (fiber === mount.fiber || !isOptional(fiber)) ? [{ mount, fiber }] : []
    })
    const { store } = this.ctx.reflect
    const explained = explainWaits(waits, {
      lost: this.lost,
      present: new Set(Object.getOwnPropertySymbols(store).flatMap(key => store[key]?.name ?? [])),
      providersOf: service => resolver.packages.providersOf(service),
      where: entry => this.findings.where(entry.at),
    })
    for (const { mount, fiber, message } of explained) this.add(mount, `${within(fiber, mount)}${message}`)
    for (const problem of this.ctx.problems.list()) this.addReported(problem)
  }

  private findHung(): void {
    this.hung = true
    const busy = this.fibers.busy()
    for (const fiber of busy.filter(outer => !busy.some(inner => inner.parent.fiber === outer))) {
      const owner = this.mounter.ownerOf(fiber)
      this.add(owner, `${within(fiber, owner)}is still loading after ${seconds(this.timeoutMs)}; what its start-up awaits has not come`)
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

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
