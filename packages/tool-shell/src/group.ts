import { setTimeout as delay } from 'node:timers/promises'
import { type Process, processesOf } from './processes.ts'

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

  private async wait(ms: number, signal?: NodeJS.Signals): Promise<Process[]> {
    const end = performance.now() + ms
    for (;;) {
      const alive = this.alive()
      if (alive.length === 0 || performance.now() >= end) return alive
      if (signal) this.sendAll(signal, alive)
      await delay(pollMs)
    }
  }

  private alive(): Process[] {
    const found = processesOf(this.id)
    // A process that is started during the look can be overlooked: the system knows whether the group is empty.
    return found.length > 0 || !send(this.id, 0) ? found : processesOf(this.id)
  }

  private sendAll(signal: NodeJS.Signals, processes: readonly Process[]): void {
    for (const group of new Set(processes.map(each => each.group))) send(group, signal)
  }
}

/** Whether there is such a group. */
function send(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch (error) {
    // Anything but "no such process" means that there is one, of another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
