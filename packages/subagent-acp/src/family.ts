import { descendantsOf, isAlive, listProcesses, type ProcessId, type ProcessInfo, signalGroup, signalProcess, wasStartedWith } from '@offshoot/processes'
import { randomUUID } from 'node:crypto'

const variable = 'OFFSHOOT_CHILD'

/** Marks all that an agent starts, in an environment variable. A child of a child carries its host's mark before its own. */
export function newMark(): string {
  const host = process.env[variable]
  return `${host === undefined ? '' : `${host}/`}${randomUUID()}`
}

/** The environment that carries a mark. */
export function markVariable(mark: string): Record<string, string> {
  return { [variable]: mark }
}

/** Everything that belongs to one agent's process: its descendants, its session, and what carries its mark, told apart from whoever has a pid of theirs later. */
export class Family {
  private readonly leader: ProcessId | undefined
  private readonly group: number
  private readonly mark: string
  private readonly known = new Map<string, ProcessInfo>()

  /** @param leader absent where it was over before it could be looked at: then its mark alone tells. */
  constructor(pid: number, leader: ProcessId | undefined, mark: string) {
    this.group = pid
    this.leader = leader
    this.mark = mark
  }

  /** Look who there is now. Who was seen once stays known: a parent that ends takes the way to its children with it. */
  alive(): ProcessInfo[] {
    const all = listProcesses()
    const holder = all.find(({ pid }) => pid === this.group)
    // A pid that is somebody else's by now: nothing can be told by it any more.
    const isOurs = !holder || holder.startTime === this.leader?.startTime
    const found = isOurs ? [...holder ? [holder] : [], ...descendantsOf(this.group, all), ...all.filter(({ session, group }) => session === this.group || group === this.group)] : []
    this.note([...found, ...all.filter(process => this.isMarked(process))])
    // Of those who are still there: a pid may be somebody else's by now, who has children too.
    for (const each of all.filter(process => this.known.has(keyOf(process)))) this.note(descendantsOf(each.pid, all))
    for (const [key, each] of this.known) if (!isAlive(each)) this.known.delete(key)
    return [...this.known.values()]
  }

  /** Whether anybody of the agent's own group lives. */
  get hasGroup(): boolean {
    return this.alive().some(({ group }) => group === this.group)
  }

  /** SIGTERM to the agent's group as a whole. */
  terminate(): void {
    if (this.hasGroup) signalGroup(this.group, 'SIGTERM')
  }

  /** SIGKILL to whoever is left, in whatever group. Answers whom it found. */
  kill(): ProcessInfo[] {
    const left = this.alive()
    if (left.some(({ group }) => group === this.group)) signalGroup(this.group, 'SIGKILL')
    for (const each of left) signalProcess(each, 'SIGKILL')
    return left
  }

  private note(processes: readonly ProcessInfo[]): void {
    for (const each of processes) this.known.set(keyOf(each), each)
  }

  private isMarked({ pid, startTime }: ProcessInfo): boolean {
    // To look into an environment takes longer than all else; what is older than the agent cannot carry its mark.
    const isOlder = this.leader !== undefined && Number(startTime) < Number(this.leader.startTime)
    return !isOlder && wasStartedWith(pid, variable, this.mark)
  }
}

function keyOf({ pid, startTime }: ProcessId): string {
  return `${pid} ${startTime}`
}
