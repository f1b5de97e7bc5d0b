import type { Task } from './types.ts'

/** What an owner's model is told of a task that has settled. */
export function noticeText(task: Task, inlineBytes: number): string {
  return `<task-notice task="${task.id}" status="${task.status}">${escapeTag(body(task, inlineBytes))}</task-notice>`
}

function body(task: Task, inlineBytes: number): string {
  const text = told(task)
  const bytes = Buffer.byteLength(text)
  return bytes <= inlineBytes ? text : `The ${task.status === 'completed' ? 'result' : 'reason'} has ${bytes} bytes. Read it with task_output {"task_id": "${task.id}"}.`
}

function told({ outcome, reason }: Task): string {
  switch (outcome?.status) {
    case 'completed':
      return outcome.output
    case 'failed':
      return outcome.error
    case 'killed':
      return reason ?? ''
    case undefined:
      return ''
  }
}

/** The text is a child's, and must not be able to end the notice it stands in, or begin another. */
function escapeTag(text: string): string {
  return text.replace(/<(?=\s*\/?\s*task-notice)/gi, '&lt;')
}
