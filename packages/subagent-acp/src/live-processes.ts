import type { AgentProcess } from './agent-process.ts'
import { Family } from './family.ts'
import type { LaunchRecords } from './launch-records.ts'

/** An agent's process that lives, as far as ending it goes. */
export interface LiveProcess {
  readonly family: Family
  /** It is over, with everything that belongs to it. Idempotent. */
  release(): void
}

/**
 * The agents' processes that live: so that none outlives this one, or at least not the next. While there are any, it listens for the exit of
 * this process: a child that was started stays its parent's when the plugin is unloaded.
 */
export class LiveProcesses {
  private readonly families = new Set<Family>()
  private readonly records: LaunchRecords | undefined

  /** @param records where a next process finds what this one could not end. */
  constructor(records: LaunchRecords | undefined) {
    this.records = records
  }

  add({ pid, id }: AgentProcess, mark: string, command: string): LiveProcess {
    const family = new Family(pid, id, mark)
    const forget = id && this.records?.add(id, command, mark)
    if (this.families.size === 0) process.on('exit', this.kill)
    this.families.add(family)
    return {
      family,
      release: () => {
        if (!this.families.delete(family)) return
        if (this.families.size === 0) process.off('exit', this.kill)
        forget?.()
      },
    }
  }

  /** SIGKILL to all of them, without waiting: this process is about to exit. */
  private readonly kill = (): void => {
    for (const family of this.families) family.kill()
  }
}
