import { AgentError } from './error.ts'

/** Where an app stands that is itself a child: what its host passes to it. */
export interface Lineage {
  /** Depth of its root agents; 0 for an app that nobody delegated to. */
  readonly depth: number
  /** Absolute depth that nothing below may exceed. Absent: the app's own limit alone. */
  readonly maxDepth?: number | undefined
}

/** The environment variables in which a lineage travels to a child process. */
export const lineageVariables = { depth: 'OFFSHOOT_DEPTH', maxDepth: 'OFFSHOOT_MAX_DEPTH' } as const

/**
 * The lineage that a host put into the environment.
 *
 * @throws {AgentError} `INVALID_AGENT` for a variable that is no whole number: without it, a limit would be lost.
 */
export function lineageFrom(env: NodeJS.ProcessEnv): Lineage {
  return { depth: wholeNumber(env, lineageVariables.depth) ?? 0, maxDepth: wholeNumber(env, lineageVariables.maxDepth) }
}

function wholeNumber(env: NodeJS.ProcessEnv, name: string): number | undefined {
  const text = env[name]
  if (text === undefined || text === '') return undefined
  if (!/^\d{1,9}$/.test(text)) throw new AgentError('INVALID_AGENT', `${name} must be a whole number, not "${text}"; the process that started this one sets it`)
  return Number(text)
}
