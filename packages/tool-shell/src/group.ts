import { listProcesses, type ProcessInfo, signalGroup } from '@offshoot/processes'
import { setTimeout as delay } from 'node:timers/promises'

const pollMs = 10
/** Only a process that the system itself holds up lives on after SIGKILL. */
const killedMs = 2000

/** What a command started: its process group, whoever of it still lives, and on Linux the other groups of its session. */
export class ProcessGroup {
  private readonly id: number
  private ending: Promise<void> | undefined

  /** @param leader the process that was started as the first of its group and session. */
  constructor(leader: number) {
    this.id = leader
  }

  /** Waits until none of it lives, `ms` at most. Answers the command lines of those that still do. */
  async settle(ms: number): Promise<string[]> {
    return (await this.wait(ms)).map(({ command }) => command)
  }

  /** SIGTERM, and SIGKILL for what is left after `graceMs`. Settles when none of it lives. Idempotent. */
  end(graceMs: number): Promise<void> {
    return this.ending ??= this.terminate(graceMs)
  }

  /** SIGKILL, without waiting: for a process that is about to exit. */
  kill(): void {
    this.sendAll('SIGKILL', this.alive())
  }

  private async terminate(graceMs: number): Promise<void> {
    this.sendAll('SIGTERM', this.alive())
    await this.wait(graceMs)
    await this.wait(killedMs, 'SIGKILL')
  }

  private async wait(ms: number, signal?: NodeJS.Signals): Promise<ProcessInfo[]> {
    const end = performance.now() + ms
    for (;;) {
      const alive = this.alive()
      if (alive.length === 0 || performance.now() >= end) return alive
      if (signal) this.sendAll(signal, alive)
      await delay(pollMs)
    }
  }

  private alive(): ProcessInfo[] {
    const found = this.members()
    // A process that is started during the look can be overlooked: the system knows whether the group is empty.
    return found.length > 0 || !signalGroup(this.id, 0) ? found : this.members()
  }

  /** `timeout` and `set -m` make groups of their own, in the same session. */
  private members(): ProcessInfo[] {
    return listProcesses().filter(({ session }) => session === this.id)
  }

  private sendAll(signal: NodeJS.Signals, processes: readonly ProcessInfo[]): void {
    for (const group of new Set(processes.map(each => each.group))) signalGroup(group, signal)
  }
}
