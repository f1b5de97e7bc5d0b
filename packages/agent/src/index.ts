import type {} from '@offshoot/model'
import type {} from '@offshoot/session'
import type {} from '@offshoot/tools'
import { type Context, Service } from 'cordis'
import z from 'schemastery'
import type { Agent } from './agent.ts'
import { AgentCore } from './core.ts'
import { createNotify } from './notify.ts'
import type { AgentOptions } from './types.ts'

export { onAbort } from './abort.ts'
export type { Agent } from './agent.ts'
export type { AgentCore } from './core.ts'
export { AgentError, type AgentErrorCode } from './error.ts'
export type { Notice } from './inbox.ts'
export { type Lineage, lineageVariables } from './lineage.ts'
export { createNotify, type Notify } from './notify.ts'
export type { AbortOptions, AgentEvent, AgentListener, AgentOptions, AgentSlot, AnswerTool, RunOptions, StopReason, StopReasons, StructuredAnswer, TurnCut, TurnProgress, TurnResult, TurnWait } from './types.ts'
export { sumUsage } from './usage.ts'

declare module 'cordis' {
  interface Context {
    agents: AgentService
  }

  interface Events {
    /** An agent exists. Followed by one `agent/disposed`. */
    'agent/created'(agent: Agent): void
    /** Nothing of it runs any more. */
    'agent/disposed'(agent: Agent): void
    /** Everything that runs for the agent in the background is to end; the agent itself has been aborted. */
    'agent/cancelled'(agent: Agent, reason: unknown): void
  }
}

/** Makes agents, and knows those that live. */
export class AgentService extends Service {
  static readonly inject = ['sessions', 'models', 'tools']
  readonly core: AgentCore

  constructor(ctx: Context, config: AgentService.Config) {
    super(ctx, 'agents')
    const { logger } = ctx
    const core = new AgentCore({
      ...config,
      sessions: ctx.sessions.core,
      models: ctx.models.core,
      tools: ctx.tools.core,
      notify: createNotify(ctx),
      log: error => { logger.warn(error) },
    })
    this.core = core
    ctx.effect(() => () => core.drain(), 'agents')
  }

  /**
   * Make an agent. The caller owns it: `dispose()` it when it is done with.
   *
   * @throws {ModelError} for a model that is not registered; {ToolError} `EMPTY_FILTER`; {AgentError} `INVALID_AGENT` for
   * a relative `cwd` or a `maxSteps` below 1, `AGENT_DISPOSED` for a parent that is gone.
   */
  create(options?: AgentOptions): Agent {
    return this.core.create(options)
  }

  /** Live agents, oldest first. */
  list(): Agent[] {
    return this.core.list()
  }

  /** Dispose every agent, children before their parents. Settles when none is left. */
  drain(): Promise<void> {
    return this.core.drain()
  }
}

export namespace AgentService {
  export interface Config {
    /** The registered name of the model that agents use unless told otherwise. */
    model?: string
    /** Who agents are unless told otherwise: the first part of their system text. */
    persona?: string
    /** Model requests that one turn may make. */
    maxSteps: number
    /** How many `parallel` tool calls of one step run at once. */
    maxParallelTools: number
    /** How often in a row notices wake an idle agent before they wait for its next input. */
    maxWakes: number
    /** How many steps in a row may make the same calls and get the same results; the last of them ends the turn as `loop`. */
    maxRepeats: number
  }

  export const Config: z<Partial<Config>, Config> = z.object({
    model: z.string().description('Registered name of the model that agents use unless told otherwise.'),
    persona: z.string().description('Who agents are unless told otherwise.'),
    maxSteps: z.natural().min(1).default(100).description('Model requests that one turn may make.'),
    maxParallelTools: z.natural().min(1).default(10).description('How many parallel tool calls of one step run at once.'),
    maxWakes: z.natural().default(16).description('How often in a row notices wake an idle agent.'),
    maxRepeats: z.natural().min(2).default(5).description('How many identical steps in a row end a turn.'),
  })
}

export default AgentService
