import type { Task } from '@offshoot/tasks'
import type { RunLog } from './run-log.ts'
import { doing } from './tree.ts'
import { duration, oneLine } from './wording.ts'

/** Ended tasks that are shown: the latest. */
const shownEnded = 10

/** Background tasks, one a line: everything that runs, after what ended last. */
export function renderTasks(tasks: readonly Task[], log: RunLog): string {
  const ended = tasks.filter(({ outcome }) => outcome)
  const running = tasks.filter(({ outcome }) => !outcome)
  const shown = [...ended.slice(-shownEnded), ...running]
  if (shown.length === 0) return 'no background tasks\n'
  const width = Math.max(...shown.map(({ id }) => id.length))
  const before = ended.length - shownEnded
  return `${before > 0 ? `(${before} ended before these)\n` : ''}${shown.map(task => `${task.id.padEnd(width)}  ${describe(task, log)}\n`).join('')}`
}

function describe(task: Task, log: RunLog): string {
  const { status, label, owner, startedAt, settledAt, activity, outcome, delivery } = task
  const owned = owner === log.root ? '' : `, of ${log.nameOf(owner)}`
  const untold = outcome && delivery === 'undelivered' ? ', not told yet' : ''
  return `${doing(status, activity?.step, activity?.tool)} "${oneLine(label)}" (${duration((settledAt ?? Date.now()) - startedAt)}${owned}${untold})`
}
