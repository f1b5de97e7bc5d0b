import AgentService from '@offshoot/agent'
import ApprovalService from '@offshoot/approvals'
import ModelService from '@offshoot/model'
import ProblemsService from '@offshoot/problems'
import SessionService from '@offshoot/session'
import SubagentService from '@offshoot/subagent'
import * as fork from '@offshoot/subagent-fork'
import * as spawn from '@offshoot/subagent-spawn'
import TaskService from '@offshoot/tasks'
import * as toolTasks from '@offshoot/tool-tasks'
import ToolService from '@offshoot/tools'
import type { Context } from 'cordis'
import z from 'schemastery'

export const name = 'runtime'

export interface Config {
  /** Of `@offshoot/session`. */
  session: SessionService.Config
  /** Of `@offshoot/model`. */
  model: ModelService.Config
  /** Of `@offshoot/tools`. */
  tools: ToolService.Config
  /** Of `@offshoot/agent`. */
  agent: AgentService.Config
  /** Of `@offshoot/tasks`. */
  tasks: TaskService.Config
  /** Of `@offshoot/tool-tasks`. */
  toolTasks: toolTasks.Config
  /** Of `@offshoot/approvals`. */
  approvals: ApprovalService.Config
  /** Of `@offshoot/subagent`. */
  subagents: SubagentService.Config
  /** Of `@offshoot/subagent-spawn`. */
  spawn: spawn.Config
  /** Of `@offshoot/subagent-fork`. */
  fork: fork.Config
}

export interface Input {
  session?: SessionService.Config
  model?: ModelService.Input
  tools?: Partial<ToolService.Config>
  agent?: Partial<AgentService.Config>
  tasks?: Partial<TaskService.Config>
  toolTasks?: Partial<toolTasks.Config>
  approvals?: Partial<ApprovalService.Config>
  subagents?: SubagentService.Input
  spawn?: Partial<spawn.Config>
  fork?: Partial<fork.Config>
}

export const Config: z<Input, Config> = z.object({
  session: SessionService.Config,
  model: ModelService.Config,
  tools: ToolService.Config,
  agent: AgentService.Config,
  tasks: TaskService.Config,
  toolTasks: toolTasks.Config,
  approvals: ApprovalService.Config,
  subagents: SubagentService.Config,
  spawn: spawn.Config,
  fork: fork.Config,
})

/** Mounts all that agents and delegation need: the services, the task tools, the providers `spawn` and `fork`. Models and other tools are yours to add. */
export function apply(ctx: Context, config: Config): void {
  if (!ctx.get('problems')) ctx.plugin(ProblemsService, {})
  ctx.plugin(SessionService, config.session)
  ctx.plugin(ModelService, config.model)
  ctx.plugin(ToolService, config.tools)
  ctx.plugin(AgentService, config.agent)
  ctx.plugin(TaskService, config.tasks)
  ctx.plugin(toolTasks, config.toolTasks)
  ctx.plugin(ApprovalService, config.approvals)
  ctx.plugin(SubagentService, config.subagents)
  ctx.plugin(spawn, config.spawn)
  ctx.plugin(fork, config.fork)
}
