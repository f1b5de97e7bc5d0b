import AgentService from '@offshoot/agent'
import ModelService from '@offshoot/model'
import ProblemsService from '@offshoot/problems'
import SessionService from '@offshoot/session'
import SubagentService from '@offshoot/subagent'
import * as spawn from '@offshoot/subagent-spawn'
import ToolService from '@offshoot/tools'
import type { Context } from 'cordis'
import z from 'schemastery'

export const name = 'runtime'

export interface Config {
  /** Of `@offshoot/agent`. */
  agent: AgentService.Config
  /** Of `@offshoot/subagent`. */
  subagents: SubagentService.Config
  /** Of `@offshoot/subagent-spawn`. */
  spawn: spawn.Config
}

export interface Input {
  agent?: Partial<AgentService.Config>
  subagents?: Partial<SubagentService.Config>
  spawn?: Partial<spawn.Config>
}

export const Config: z<Input, Config> = z.object({
  agent: AgentService.Config,
  subagents: SubagentService.Config,
  spawn: spawn.Config,
})

/** Mounts everything that agents and delegation need, and the `spawn` provider. Models and tools are yours to add. */
export function apply(ctx: Context, config: Config): void {
  if (!ctx.get('problems')) ctx.plugin(ProblemsService, {})
  ctx.plugin(SessionService)
  ctx.plugin(ModelService)
  ctx.plugin(ToolService)
  ctx.plugin(AgentService, config.agent)
  ctx.plugin(SubagentService, config.subagents)
  ctx.plugin(spawn, config.spawn)
}
