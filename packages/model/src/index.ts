import { suggest } from '@offshoot/problems'
import { type Context, Service } from 'cordis'
import z from 'schemastery'
import { ModelError } from './error.ts'
import { type RateLimitOptions, RateLimits } from './rate-limits.ts'
import type { LanguageModel } from './types.ts'

export { acceptsMedia } from './accepts.ts'
export { ModelError, type ModelErrorCode } from './error.ts'
export { describeFailure, scrub } from './failure.ts'
export { classifyFailure, type FailureKind } from './failure-kind.ts'
export type { RateLimitOptions, RateLimits } from './rate-limits.ts'
export type { RatePass } from './rate-pass.ts'
export { syncParts, type LanguageModel, type ModelRequest, type ModelStream, type ModelStreamPart, type RequestOrigin } from './types.ts'

declare module 'cordis' {
  interface Context {
    models: ModelService
  }
}

/** The model used where several are registered and none is named. */
export const DEFAULT_MODEL = 'main'

/** The plain core behind `ctx.models`: plugins on a hot path take it once and keep it. */
export class ModelCore {
  readonly models = new Map<string, LanguageModel>()
  readonly rateLimits: RateLimits

  constructor(rateLimit: RateLimitOptions) {
    this.rateLimits = new RateLimits(rateLimit)
  }

  /** The name a request without one means: the only model, or `main`. */
  defaultName(): string {
    if (this.models.size === 1) return [...this.models.keys()][0]!
    if (this.models.has(DEFAULT_MODEL)) return DEFAULT_MODEL
    if (this.models.size === 0) {
      throw new ModelError('NO_DEFAULT_MODEL', 'no model is registered; load one, for example @offshoot/model-ai-sdk')
    }
    throw new ModelError('NO_DEFAULT_MODEL',
      `several models are registered and none is called "${DEFAULT_MODEL}"; name one (models: ${[...this.models.keys()].sort().join(', ')})`)
  }

  get(name: string = this.defaultName()): LanguageModel {
    const model = this.models.get(name)
    if (!model) throw new ModelError('UNKNOWN_MODEL', `no model "${name}"${suggest(name, this.models.keys(), 'models')}`)
    return model
  }
}

/** The app's language models, by name. */
export class ModelService extends Service {
  readonly core: ModelCore

  constructor(ctx: Context, config: ModelService.Config) {
    super(ctx, 'models')
    this.core = new ModelCore(config.rateLimit)
  }

  /**
   * Offer a model for as long as the calling plugin lives.
   *
   * @returns the disposer, for withdrawing it sooner. Turns that run on it keep it to their end.
   * @throws {ModelError} `DUPLICATE_MODEL` if the name is taken; `INVALID_MODEL` if it is no `LanguageModelV3`.
   */
  register(name: string, model: LanguageModel): () => void {
    const { models } = this.core
    if (typeof model?.doStream !== 'function' || model.specificationVersion !== 'v3') {
      throw new ModelError('INVALID_MODEL', `model "${name}" is no AI SDK LanguageModelV3 (specificationVersion "v3", doStream)`)
    }
    return this.ctx.effect(() => {
      if (models.has(name)) throw new ModelError('DUPLICATE_MODEL', `model "${name}" is already registered; give one of the two another name`)
      models.set(name, model)
      return () => { models.delete(name) }
    }, 'ctx.models.register()')
  }

  /**
   * The model of that name; without one, the only model or the one called `main`.
   *
   * @throws {ModelError} `UNKNOWN_MODEL`, with the nearest name, or `NO_DEFAULT_MODEL`, with the names there are.
   */
  get(name?: string): LanguageModel {
    return this.core.get(name)
  }

  /** Names, oldest first. */
  list(): string[] {
    return [...this.core.models.keys()]
  }
}

export namespace ModelService {
  export interface Config {
    /** How long requests that meet a rate limit go on. */
    rateLimit: RateLimitOptions
  }

  export interface Input {
    rateLimit?: Partial<RateLimitOptions>
  }

  export const Config: z<Input, Config> = z.object({
    rateLimit: z.object({
      maxAttempts: z.natural().min(1).default(8).description('How often a request is made before its rate limit fails it.'),
      maxWaitMs: z.natural().default(600_000).description('How long a request waits for rate limits, in all, in ms.'),
    }),
  })
}

export default ModelService
