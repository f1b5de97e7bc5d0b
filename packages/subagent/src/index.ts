import { type Agent, createNotify } from '@offshoot/agent'
import type { Usage } from '@offshoot/session'
import { type Context, Service } from 'cordis'
import z from 'schemastery'
import type { AdmissionLimits } from './admission.ts'
import { checkProvider } from './check.ts'
import { SubagentCore } from './core.ts'
import type { DeadlineLimits } from './deadlines.ts'
import type { DelegationNode, SubagentProvider, SubagentResult, SubagentRun, SubagentRunInfo, SubagentStartRequest } from './types.ts'

export type { AdmissionLimits } from './admission.ts'
export { answerTool, answerToolName } from './answer-tool.ts'
export { missingCapability } from './check.ts'
export type { SubagentCore } from './core.ts'
export type { DeadlineLimits } from './deadlines.ts'
export { cancelledSentence, failureSentence } from './failure-sentence.ts'
export { SubagentError, type SubagentErrorCode } from './error.ts'
export { compileOutputSchema, type JsonSchema, type OutputSchema } from './output-schema.ts'
export type { Misfit } from './misfit.ts'
export type {
  ChildDeadlines, ChildProgress, DelegationNode, ProviderRun, ProviderStartRequest, SubagentAgentOptions, SubagentCapabilities, SubagentProvider, SubagentResult,
  SubagentRun, SubagentRunInfo, SubagentSeed, SubagentSeedInfo, SubagentStartRequest, ToolOrigin,
} from './types.ts'

declare module 'cordis' {
  interface Context {
    subagents: SubagentService
  }

  interface Events {
    'subagent/provider-added'(provider: SubagentProvider): void
    'subagent/provider-removed'(name: string): void
    /** A child exists, and has made no model request yet. Always followed by one `subagent/end` of the same run. */
    'subagent/start'(info: SubagentRunInfo): void
    /** A child has ended; it may still be cleaning up. */
    'subagent/end'(info: SubagentRunInfo, result: SubagentResult): void
  }
}

/** The registry of ways to delegate: providers join by name, agents start children by name. */
export class SubagentService extends Service {
  static readonly inject = ['agents']
  readonly core: SubagentCore

  constructor(ctx: Context, config: SubagentService.Config) {
    super(ctx, 'subagents')
    const { logger } = ctx
    const core = new SubagentCore(config, createNotify(ctx), error => { logger.warn(error) })
    this.core = core
    ctx.effect(() => () => core.drain(), 'subagents')
  }

  /**
   * Offer a provider for as long as the calling plugin lives.
   *
   * Removing it refuses new starts and cancels those that have no child yet; children that were handed
   * over belong to their callers, and finish.
   *
   * @returns the disposer, for withdrawing it sooner.
   * @throws {SubagentError} `DUPLICATE_PROVIDER` if the name is taken, `INVALID_PROVIDER` for what cannot be one.
   */
  registerProvider(provider: SubagentProvider): () => Promise<void> {
    checkProvider(provider)
    const { core } = this
    return this.ctx.effect(() => {
      core.add(provider)
      return () => core.remove(provider)
    }, `ctx.subagents.registerProvider(${JSON.stringify(provider.name)})`)
  }

  getProvider(name: string): SubagentProvider | undefined {
    return this.core.getProvider(name)
  }

  /** Provider names, oldest first. */
  list(): string[] {
    return this.core.list()
  }

  /**
   * Start a child and hand it to the caller, who owns it and disposes it.
   *
   * Fulfils once the child exists. Before that, a failure or an abort rejects, leaves nothing behind and
   * sends no event; after that, every ending comes through `run.result`.
   *
   * @throws {SubagentError} `NO_PROVIDER`, `INVALID_REQUEST`, `UNSUPPORTED_CAPABILITY`, `DEPTH_LIMIT`, `START_LIMIT`,
   * `TOKEN_LIMIT`, `QUEUE_TIMEOUT` before the provider is called; `ABORTED`, `START_FAILED`, `START_TIMEOUT` after it has cleaned up.
   */
  start(name: string, request: SubagentStartRequest): Promise<SubagentRun> {
    return this.core.start(name, request)
  }

  /** What `agent` has used so far: itself, and with everything that it started, ended or not. Each token once. */
  usage(agent: Agent): { readonly own: Usage, readonly total: Usage } {
    return { own: agent.usage, total: this.core.usageOf(agent) }
  }

  /** The live runs below `agent` and the starts that wait for a slot, or all of them. */
  tree(agent?: Agent): DelegationNode[] {
    return this.core.tree(agent)
  }
}

export namespace SubagentService {
  export interface Config {
    /** Deepest delegation there may be: a root agent's children are at depth 1. 0 forbids delegation. */
    maxDepth: number
    /** How long disposing one child may take before it counts as failed. */
    disposeGraceMs: number
    /** What children may do at once, and in all. */
    limits: AdmissionLimits
    /** How long a child may take, and be silent. */
    deadlines: DeadlineLimits
  }

  export interface Input {
    maxDepth?: number
    disposeGraceMs?: number
    limits?: Partial<AdmissionLimits>
    deadlines?: Partial<DeadlineLimits>
  }

  export const Config: z<Input, Config> = z.object({
    maxDepth: z.natural().default(3).description('Deepest delegation there may be; 0 forbids it.'),
    disposeGraceMs: z.natural().min(1).default(10_000).description('How long disposing one child may take, in ms.'),
    limits: z.object({
      concurrentPerTree: z.natural().min(1).default(16).description('Children of one tree that work at once; more wait their turn.'),
      concurrent: z.natural().min(1).default(64).description('Children of all trees that work at once; more wait their turn.'),
      startsPerTree: z.natural().default(200).description('Children that one tree starts in its life.'),
      tokensPerTree: z.natural().min(1).description('Tokens that one tree uses, its root included.'),
      queueTimeoutMs: z.natural().min(1).default(600_000).description('How long a child waits for its turn to begin, in ms.'),
    }),
    deadlines: z.object({
      startMs: z.natural().min(1).default(120_000).description('How long a provider may take to make a child, in ms.'),
      firstTokenMs: z.natural().min(1).default(300_000).description('How long a model may take to say the first word of a reply, in ms.'),
      idleMs: z.natural().min(1).default(300_000).description('How long it may then be silent, in ms.'),
      timeoutMs: z.natural().min(1).description('How long a child may take in all, in ms.'),
      wrapUpMs: z.natural().default(30_000).description('How long before that it is told to write down what it has, in ms.'),
    }),
  })
}

export default SubagentService
