import type { Task, TaskCore } from '@offshoot/tasks'
import { defineTool, type Tool, Type } from '@offshoot/tools'
import { needCaller } from './caller.ts'
import { readCall, wasKilled } from './status.ts'

/** The tool that ends one of the calling agent's tasks, and answers what became of it once it has settled. */
export function killTool(tasks: TaskCore): Tool {
  return defineTool({
    name: 'task_kill',
    description: 'End one of your background tasks whose result you no longer need. What it has done so far stays done.',
    parameters: Type.Object({
      task_id: Type.String({ description: 'The id of the task.' }),
      reason: Type.Optional(Type.String({ description: 'Why, in a few words.' })),
    }),
    // A kill waits for the task to stop; several need not wait for one another.
    concurrency: 'parallel',
    effect: 'read',
    async execute({ task_id: id, reason }, { agent, signal }) {
      const owner = needCaller('task_kill', agent)
      const task = tasks.need(id, owner)
      const wasSettled = task.isSettled
      task.kill(reason?.trim() || 'no longer needed')
      await tasks.wait(id, { signal }, owner)
      // All there is to know of it stands in the answer, unless it has a result.
      if (task.outcome?.status !== 'completed') task.consume()
      return `${id} ${wasSettled ? 'had already finished: it ' : ''}${ending(task)}`
    },
  })
}

function ending(task: Task): string {
  const { id, outcome } = task
  switch (outcome?.status) {
    case 'completed':
      return `completed; read its result with ${readCall(id)}`
    case 'failed':
      return `failed: ${outcome.error}`
    case 'killed':
      return wasKilled(task)
    case undefined:
      return 'has not ended'
  }
}
