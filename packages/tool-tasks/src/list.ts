import type { Task, TaskCore } from '@offshoot/tasks'
import { defineTool, type Tool, Type } from '@offshoot/tools'
import { needCaller } from './caller.ts'
import { elapsed, named, runningState } from './status.ts'

/** How many ended tasks one answer names: the latest. */
const shownEnded = 20

/** The tool that lists the calling agent's tasks: those that run first, then those that ended, the latest first. */
export function listTool(tasks: TaskCore): Tool {
  return defineTool({
    name: 'task_list',
    description: 'List your background tasks, one a line, those that run first. A notice comes by itself when a task ends: no need to look for that here.',
    parameters: Type.Object({}),
    concurrency: 'parallel',
    effect: 'read',
    execute(_args, { agent }) {
      const own = tasks.list(needCaller('task_list', agent))
      if (own.length === 0) return 'no background tasks'
      const running = own.filter(task => !task.outcome)
      const ended = own.filter(task => task.outcome).sort((a, b) => b.settledAt! - a.settledAt!)
      const lines = [...running, ...ended.slice(0, shownEnded)].map(line)
      if (ended.length > shownEnded) lines.push(`and ${ended.length - shownEnded} that ended earlier`)
      return lines.join('\n')
    },
  })
}

function line(task: Task): string {
  const { outcome, status, delivery } = task
  const state = outcome ? `${status} after ${elapsed(task)}${delivery === 'undelivered' ? ', not read yet' : ''}` : runningState(task)
  return `${named(task)}: ${state}`
}
