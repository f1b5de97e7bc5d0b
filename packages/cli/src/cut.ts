import type { Agent } from '@offshoot/agent'
import type { App } from '@offshoot/loader'
import type { Task } from '@offshoot/tasks'
import type { Writer } from './io.ts'
import { oneLine } from './wording.ts'

/** Background work that was ended before its agent had its result. */
export interface CutTask {
  readonly taskId: string
  readonly label: string
  /** Where it stood when it was cut. A settled one had a result that was not told yet. */
  readonly status: Task['status']
}

/**
 * End everything that runs below `agent`, at every depth. Answers what was cut of its background work; nothing of it
 * may have ended yet when this returns.
 */
export function cutTree(app: App, agent: Agent, reason: unknown): CutTask[] {
  const cut = unreadTasks(app, agent).map(({ id, label, status }) => ({ taskId: id, label, status }))
  agent.abort(reason, { scope: 'tree' })
  return cut
}

/** The tasks of `agent` that run, or whose result it has not been told. */
export function unreadTasks(app: App, agent: Agent): Task[] {
  return (app.ctx.get('tasks')?.list(agent) ?? []).filter(({ delivery }) => delivery === 'undelivered')
}

/** Say what was cut, in one line; nothing where nothing was. */
export function reportCut(cut: readonly CutTask[], out: Writer): void {
  if (cut.length === 0) return
  const each = cut.map(({ taskId, label, status }) => `${taskId} "${oneLine(label)}" (${isRunning(status) ? status : `${status}, not told`})`)
  out.write(`offshoot: background work was cut: ${each.join(', ')}\n`)
}

/** Say, in one line, which background work of `agent` still runs; nothing where none does. */
export function reportWaiting(app: App, agent: Agent, out: Writer): void {
  const running = unreadTasks(app, agent).filter(({ outcome }) => !outcome)
  if (running.length === 0) return
  out.write(`offshoot: waiting for ${running.map(({ id, label }) => `${id} "${oneLine(label)}"`).join(', ')}\n`)
}

/** Say, in one line, which results wait to be collected, and were not; nothing where all were. */
export function reportUncollected(app: App, agent: Agent, out: Writer): void {
  const left = unreadTasks(app, agent).filter(({ notice, outcome }) => notice === 'none' && outcome)
  if (left.length === 0) return
  out.write(`offshoot: nobody collected ${left.map(({ id, label, status }) => `${id} "${oneLine(label)}" (${status})`).join(', ')}\n`)
}

/** Say, in one line, which results the agent was not told because it was interrupted. */
export function reportUntold(tasks: readonly Task[], out: Writer): void {
  if (tasks.length === 0) return
  out.write(`offshoot: not told after the interrupt: ${tasks.map(({ id, label, status }) => `${id} "${oneLine(label)}" (${status})`).join(', ')}\n`)
}

function isRunning(status: Task['status']): boolean {
  return status === 'running' || status === 'stopping'
}
