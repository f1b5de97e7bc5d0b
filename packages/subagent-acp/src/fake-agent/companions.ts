import type { Journal } from './journal.ts'

/** The processes that an agent may leave behind. All end by themselves after ten minutes, should nobody end them. */
const companions = {
  /** In the agent's own process group. */
  'group': { script: 'exec sleep 600', detached: false, inherits: false },
  /** In a group and a session of its own, as some agents start their tools: killing the agent's group misses it. */
  'detached': { script: 'exec sleep 600', detached: true, inherits: false },
  /** In the agent's group, deaf to SIGTERM. */
  'stubborn': { script: 'trap "" TERM; exec sleep 600', detached: false, inherits: false },
  /** Detached, and it keeps the agent's stdout and stderr open. */
  'holds-output': { script: 'exec sleep 600', detached: true, inherits: true },
} as const

export type Companion = keyof typeof companions

export const companionNames = Object.keys(companions) as readonly Companion[]

/** Start them; the journal has the pid of each. */
export async function startCompanions(kinds: readonly Companion[], journal: Journal): Promise<void> {
  if (kinds.length === 0) return
  const { spawn } = await import('node:child_process')
  for (const kind of kinds) {
    const { script, detached, inherits } = companions[kind]
    const output = inherits ? 'inherit' : 'ignore'
    const child = spawn('/bin/sh', ['-c', script], { detached, stdio: ['ignore', output, output] })
    child.unref()
    journal.write('companion', { kind, pid: child.pid })
  }
}
