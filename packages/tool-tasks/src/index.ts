import type {} from '@offshoot/tasks'
import type { Context } from 'cordis'
import z from 'schemastery'
import { killTool } from './kill.ts'
import { listTool } from './list.ts'
import { outputTool } from './output.ts'

export const name = 'tool-tasks'
export const inject = ['tools', 'tasks']

/** The longest delay that a timer takes, in ms: about 24 days. */
const longestTimerMs = 2 ** 31 - 1

export interface Config {
  /** How long `task_output` waits where the model names no time, in ms. */
  defaultWaitMs: number
  /** The longest that `task_output` waits, in ms. */
  maxWaitMs: number
}

export const Config: z<Partial<Config>, Config> = z.object({
  defaultWaitMs: z.natural().min(1).max(longestTimerMs).default(60_000).description('How long task_output waits where the model names no time, in ms.'),
  maxWaitMs: z.natural().min(1).max(longestTimerMs).default(600_000).description('The longest that task_output waits, in ms.'),
})

export function apply(ctx: Context, config: Config): void {
  const tasks = ctx.tasks.core
  for (const tool of [outputTool(tasks, config), listTool(tasks), killTool(tasks)]) ctx.tools.register(tool)
}
