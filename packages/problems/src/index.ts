import { type Context, Service } from 'cordis'

export { nearest, suggest } from './nearest.ts'

declare module 'cordis' {
  interface Context {
    problems: ProblemsService
  }
}

/** A misconfiguration found after load, and the place in the app's config that it belongs to. */
export interface Problem {
  /** One sentence: what is wrong, and what would work. */
  readonly message: string
  /** `file:line:col` of the config entry, where one is known. */
  readonly where?: string
  readonly error?: Error
}

/** What a host (the loader) knows that plugins do not. */
export interface ProblemsConfig {
  /** `file:line:col` of the entry that a context belongs to, through bundles too. */
  locate?: (ctx: Context) => string | undefined
  /** Called at once for each reported problem, so that one found late is still seen. */
  onReport?: (problem: Problem) => void
}

/** Where plugins say what is wrong with their configuration once the app runs, and what they wait for. */
export class ProblemsService extends Service {
  private readonly _reported = new Set<Problem>()
  private readonly _checks = new Map<() => string | undefined, Context>()
  private readonly _config: ProblemsConfig

  constructor(ctx: Context, config: ProblemsConfig = {}) {
    super(ctx, 'problems')
    this._config = config
  }

  /**
   * Record a problem of the plugin that `ctx` belongs to. It stands until that plugin is gone.
   *
   * @returns the disposer, for taking it back sooner.
   */
  report(ctx: Context, error: Error): () => void {
    const problem = this._problem(ctx, error.message, error)
    const { _reported: reported } = this
    // A plugin that is gone can still say what went wrong on its way out.
    const withdraw = ctx.fiber.uid === null ? () => {} : ctx.effect(() => {
      reported.add(problem)
      return () => { reported.delete(problem) }
    }, 'ctx.problems.report()')
    this._config.onReport?.(problem)
    return withdraw
  }

  /**
   * State a condition that can only be judged once the app has settled: `probe` answers the
   * sentence that says what is wrong, or `undefined` while all is well. It lives as long as `ctx`.
   */
  check(ctx: Context, probe: () => string | undefined): void {
    const { _checks: checks } = this
    ctx.effect(() => {
      checks.set(probe, ctx)
      return () => { checks.delete(probe) }
    }, 'ctx.problems.check()')
  }

  /** `file:line:col` of the config entry that `ctx` belongs to; `undefined` where no config was loaded. */
  locate(ctx: Context): string | undefined {
    return this._config.locate?.(ctx)
  }

  /** Everything that is wrong now: what was reported, and each check that fails at this moment. */
  list(): Problem[] {
    const failing = [...this._checks].flatMap(([probe, ctx]) => {
      const failure = judge(probe)
      return failure === undefined ? [] : [this._problem(ctx, failure.message, failure.error)]
    })
    return [...this._reported, ...failing]
  }

  private _problem(ctx: Context, message: string, error?: Error): Problem {
    const where = this.locate(ctx)
    return { message, ...(where === undefined ? {} : { where }), ...(error ? { error } : {}) }
  }
}

/** What a probe says; one that throws is itself what is wrong. */
function judge(probe: () => string | undefined): { message: string, error?: Error } | undefined {
  try {
    const message = probe()
    return message === undefined ? undefined : { message }
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    return { message: error.message, error }
  }
}

/** Report through `ctx.problems` where the app has it, else to the log. Returns what takes the report back. */
export function reportProblem(ctx: Context, error: Error): () => void {
  const problems = ctx.get('problems')
  if (problems) return problems.report(ctx, error)
  ctx.logger.warn(error)
  return () => {}
}

/** `name (file:line:col)`, or the plugin's name alone where no config was loaded. */
export function describePlugin(ctx: Context): string {
  const where = ctx.get('problems')?.locate(ctx)
  return where === undefined ? ctx.fiber.name : `${ctx.fiber.name} (${where})`
}

export default ProblemsService
