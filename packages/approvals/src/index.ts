import { type Agent, createNotify } from '@offshoot/agent'
import type { Tool, ToolExec } from '@offshoot/tools'
import { suggest } from '@offshoot/problems'
import { type Context, Service } from 'cordis'
import z from 'schemastery'
import { ApprovalCore, type ApprovalLimits } from './core.ts'
import { summaryOf } from './summary.ts'
import type { Adjustment, Approval, ApprovalRequest, Attendant, Verdict } from './types.ts'

export type { ApprovalCore, ApprovalLimits } from './core.ts'
export type { Policies } from './policy.ts'
export type { Adjustment, Approval, ApprovalRequest, Attendant, DecidedBy, Policy, Verdict } from './types.ts'

declare module 'cordis' {
  interface Context {
    approvals: ApprovalService
  }

  interface Events {
    /** A request joined the queue. Always followed by one `approval/settled` of the same. */
    'approval/asked'(approval: Approval): void
    /** It left the queue, whoever decided. */
    'approval/settled'(approval: Approval, verdict: Verdict): void
  }
}

/** Who may do what: each tool call is judged by the config before it runs; where that says so, people are asked. */
export class ApprovalService extends Service {
  static readonly inject = ['agents', 'tools']
  readonly core: ApprovalCore

  constructor(ctx: Context, config: ApprovalService.Config) {
    super(ctx, 'approvals')
    const { logger } = ctx
    const core = new ApprovalCore(config, createNotify(ctx), error => { logger.warn(error) })
    this.core = core
    const tools = ctx.tools.core
    ctx.effect(() => {
      const gate = tools.gate = (tool, args, exec) => judgeCall(core, tool, args, exec)
      return () => {
        if (tools.gate === gate) tools.gate = undefined
        core.end()
      }
    }, 'approvals')
    ctx.on('agent/cancelled', agent => { core.end(agent) })
    ctx.get('problems')?.check(ctx, () => {
      const unknown = Object.keys(config.tools).filter(name => !tools.claims.has(name))
      return unknown.length === 0 ? undefined : unknown.map(name => `approvals.tools names a tool that nobody offers: "${name}"${suggest(name, tools.claims.keys(), 'tools')}`).join('; ')
    })
  }

  /** What becomes of a request: the config decides, or tells to ask. At once where nobody has to be asked. */
  judge(request: ApprovalRequest): Verdict | Promise<Verdict> {
    return this.core.judge(request)
  }

  /** Ask people, also where the config would allow it. What it denies, and what was allowed for good, is not asked. Never rejects. */
  ask(request: ApprovalRequest): Promise<Verdict> {
    return this.core.ask(request)
  }

  /**
   * Be there to answer: for the tree of `root`, or for all that have nobody of their own; for as long as the calling plugin lives.
   *
   * @returns the end of it. What nobody else can answer then is denied.
   */
  attend(attendant: Attendant, root?: Agent): () => void {
    const { core } = this
    return this.ctx.effect(() => core.attend(attendant, root), 'ctx.approvals.attend()')
  }

  /**
   * Hold the tree of `root` to an adjustment, in place of the one before, for as long as the calling plugin lives. What waits is judged anew.
   *
   * @returns the end of it, where no other one has taken its place.
   */
  adjust(adjustment: Adjustment, root: Agent): () => void {
    const { core } = this
    return this.ctx.effect(() => core.adjust(root, adjustment), 'ctx.approvals.adjust()')
  }

  /** What waits for an answer, of one tree or of all; oldest first. */
  list(root?: Agent): Approval[] {
    return this.core.list(root)
  }
}

/** Why a call may not run, if it may not. */
function judgeCall(core: ApprovalCore, tool: Tool, args: Record<string, unknown>, { agent, callId, signal }: ToolExec): string | undefined | Promise<string | undefined> {
  // Called by code, without an agent: it asks for nobody.
  if (!agent || core.allows(agent, tool.name, tool.effect)) return undefined
  const verdict = core.judge({ agent, callId, tool: tool.name, effect: tool.effect, summary: summaryOf(args), signal })
  return verdict instanceof Promise ? verdict.then(reasonOf) : reasonOf(verdict)
}

function reasonOf(verdict: Verdict): string | undefined {
  return verdict.allowed ? undefined : verdict.reason
}

export namespace ApprovalService {
  export type Config = ApprovalLimits

  const policy = z.union(['allow', 'deny', 'ask'] as const)

  export const Config: z<Partial<Config>, Config> = z.object({
    read: policy.default('allow').description('Of tools that only look.'),
    write: policy.default('allow').description('Of tools that change files.'),
    execute: policy.default('allow').description('Of tools that can do anything.'),
    undeclared: policy.description('Of tools that do not say what they do; as of those that execute.'),
    tools: z.dict(policy).default({}).description('Of single tools, by name, whatever they do.'),
    timeoutMs: z.natural().min(1).max(2 ** 31 - 1).default(300_000).description('How long one request waits for its answer, in ms.'),
  })
}

export default ApprovalService
