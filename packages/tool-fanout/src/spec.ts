import { FanoutError } from './error.ts'
import type { FanoutSpec } from './types.ts'

/**
 * What a model asks for, checked: whatever it sends.
 *
 * @throws {FanoutError} `VALIDATION`
 */
export function specOf(args: unknown): FanoutSpec {
  if (!isObject(args)) throw invalid('the arguments must be an object')
  const { task, name = '', tool_scope: toolScope = [], worktree, session_id: sessionId } = args
  if (typeof task !== 'string' || task.trim() === '') throw invalid('"task" is missing or blank; it is all that the child is told')
  if (typeof name !== 'string') throw invalid('"name" must be a text')
  if (!Array.isArray(toolScope)) throw invalid('"tool_scope" must be a list of tool names')
  return {
    task, name,
    // As specified: what is no text is no tool.
    toolScope: toolScope.filter(each => typeof each === 'string'),
    ...worktree === undefined || worktree === null ? {} : { worktree: worktreeOf(worktree) },
    ...typeof sessionId === 'string' && sessionId !== '' ? { sessionId } : {},
  }
}

function worktreeOf(value: unknown): { path: string, branch?: string } {
  if (!isObject(value)) throw invalid('"worktree" must be an object: { "path": …, "branch"?: … }')
  const { path, branch } = value
  if (typeof path !== 'string' || path.trim() === '') throw invalid('"worktree.path" is missing or blank')
  if (branch !== undefined && branch !== null && (typeof branch !== 'string' || branch.trim() === '')) throw invalid('"worktree.branch" must be the name of a new branch')
  return typeof branch === 'string' ? { path, branch } : { path }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(message: string): FanoutError {
  return new FanoutError('VALIDATION', message)
}
