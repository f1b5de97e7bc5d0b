import type { Task } from '@offshoot/tasks'

/** A task's id, and in brackets its label in one line. */
export function named({ id, label }: Task): string {
  return `${id} (${label.replaceAll(/\s+/g, ' ').trim()})`
}

/** What a task does at this moment: its state, how long it has run, its step and tool. Never its words. */
export function runningState(task: Task): string {
  const { status, reason, activity } = task
  const parts = [status === 'stopping' && reason !== undefined ? `stopping (${reason})` : status, elapsed(task)]
  if (activity) parts.push(`step ${activity.step}`)
  if (activity?.tool !== undefined) parts.push(`in tool ${activity.tool}`)
  return parts.join(', ')
}

/** How long it has run, or ran. */
export function elapsed({ startedAt, settledAt = Date.now() }: Task): string {
  const seconds = Math.max(0, Math.floor((settledAt - startedAt) / 1000))
  const minutes = Math.floor(seconds / 60)
  if (minutes === 0) return `${seconds} s`
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** The call that reads a task's result. */
export function readCall(id: string): string {
  return `task_output {"task_id": "${id}"}`
}

/** What became of a task that was killed. */
export function wasKilled({ reason }: Task): string {
  return reason === undefined ? 'was killed' : `was killed: ${reason}`
}
