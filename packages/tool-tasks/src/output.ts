import type { Task, TaskCore } from '@offshoot/tasks'
import { defineTool, type Tool, Type } from '@offshoot/tools'
import { needCaller } from './caller.ts'
import type { Config } from './index.ts'
import { elapsed, named, runningState, wasKilled } from './status.ts'

/** The tool that answers with a task's result, or says how far it is. */
export function outputTool(tasks: TaskCore, { maxWaitMs, ...config }: Config): Tool {
  const defaultWaitMs = Math.min(config.defaultWaitMs, maxWaitMs)
  const told = new WeakMap<Task, string>()
  return defineTool({
    name: 'task_output',
    description: 'Read the result of one of your background tasks. You need not ask for it: a notice comes by itself when a task ends. Use this when a notice points to it, or with wait: true when you can do nothing else before you have the result.',
    parameters: Type.Object({
      task_id: Type.String({ description: 'The id of the task.' }),
      wait: Type.Optional(Type.Boolean({ description: 'Wait until the task has ended, or the time is over. Default: false.' })),
      timeout_ms: Type.Optional(Type.Number({
        minimum: 0,
        description: `How long to wait, in milliseconds, with wait: true. Default: ${defaultWaitMs}; at most ${maxWaitMs}.`,
      })),
    }),
    concurrency: 'parallel',
    effect: 'read',
    async execute({ task_id: id, wait = false, timeout_ms: timeoutMs = defaultWaitMs }, { agent, signal }) {
      const owner = needCaller('task_output', agent)
      const task = tasks.need(id, owner)
      if (wait) await tasks.wait(id, { timeoutMs: Math.min(timeoutMs, maxWaitMs), signal }, owner)
      if (!task.isSettled) return progress(task, told)
      task.consume()
      return result(task)
    },
  })
}

function result(task: Task): string {
  const { id, outcome } = task
  if (outcome?.status === 'completed') return outcome.output
  throw new Error(outcome?.status === 'failed' ? outcome.error : `${id} ${wasKilled(task)}`)
}

/** Each text keeps the model from asking again; one that asked again without need has nothing new to read. */
function progress(task: Task, told: WeakMap<Task, string>): string {
  const { id, status, activity, notice } = task
  const state = JSON.stringify([status, activity?.step, activity?.tool])
  const isKnown = told.get(task) === state
  told.set(task, state)
  const howFar = isKnown ? `${id}: nothing new after ${elapsed(task)}` : `${named(task)} has not ended: ${runningState(task)}`
  const insteadOfPolling = notice === 'none'
    ? 'go on with other work, and wait for it (wait: true) once you need its result'
    : 'a notice with its result will come by itself. Go on with other work, or end your turn'
  return `${howFar}. Do not poll: ${insteadOfPolling}.`
}
