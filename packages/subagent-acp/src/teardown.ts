import { setTimeout as delay } from 'node:timers/promises'
import type { AgentProcess } from './agent-process.ts'
import type { Timeouts } from './config.ts'
import type { Family } from './family.ts'

const pollMs = 20
/** Only a process that the system itself holds up lives on after SIGKILL. */
const killMs = 500
/** The least that is left for the other rungs, whatever a cancel may take. */
const leastShare = 0.6

export interface TeardownOptions extends Pick<Timeouts, 'close' | 'exit' | 'terminate'> {
  /** How long all rungs together may take. */
  readonly budgetMs: number
  readonly closeSession?: (() => Promise<unknown>) | undefined
}

/** How long a cancel may take, so that the rungs after it still have their time within `budgetMs`. */
export function cancelBudget({ cancel, close, exit, terminate }: Timeouts, budgetMs: number): number {
  return Math.min(cancel, Math.max(budgetMs - killMs - close - exit - terminate, budgetMs * (1 - leastShare)))
}

/**
 * End an agent: close its session, end its input, SIGTERM to its group, SIGKILL to whoever of its family is left. Each rung only
 * while something lives. Settles when nothing does, or what the system holds up has been sent SIGKILL.
 */
export async function teardown(agent: AgentProcess, family: Family, { budgetMs, close, exit, terminate, closeSession }: TeardownOptions): Promise<void> {
  const scale = Math.min(1, Math.max(0, budgetMs - killMs) / (close + exit + terminate))
  if (closeSession && !agent.exit) await Promise.race([closeSession().catch(() => {}), agent.exitWithin(close * scale)])
  // While its parents live: who is nobody's child any more cannot be found by descent.
  family.alive()
  agent.stdin.end()
  await agent.exitWithin(exit * scale)
  if (agent.exit && family.alive().length === 0) return
  family.terminate()
  await until(() => !family.hasGroup, terminate * scale)
  await until(() => family.kill().length === 0, killMs)
  // Reaped, so that no trace of it is left; at once, as it is dead.
  await agent.exitWithin(killMs)
}

async function until(isDone: () => boolean, ms: number): Promise<void> {
  const end = performance.now() + ms
  while (!isDone() && performance.now() < end) await delay(pollMs)
}
