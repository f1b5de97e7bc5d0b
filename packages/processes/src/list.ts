import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** A process, told apart from whoever gets its pid after it. */
export interface ProcessId {
  readonly pid: number
  /** When it began, as the system writes it: on Linux in ticks since the boot. */
  readonly startTime: string
}

export interface ProcessInfo extends ProcessId {
  /** The pid of its parent. */
  readonly parent: number
  readonly group: number
  /** Where the system does not say: its group. */
  readonly session: number
  /** Its arguments, else its name. Read when it is asked for, where that takes a look of its own. */
  readonly command: string
}

/** Every living process. Those that are over and only wait to be reaped do not count. */
export function listProcesses(): ProcessInfo[] {
  if (process.platform !== 'linux') return parsePs(askPs())
  return readdirSync('/proc').filter(name => /^\d+$/.test(name)).flatMap(name => readProcess(Number(name)) ?? [])
}

/** Who has this pid now. */
export function identify(pid: number): ProcessId | undefined {
  const found = process.platform === 'linux' ? readStat(pid) : listProcesses().find(each => each.pid === pid)
  return found && { pid, startTime: found.startTime }
}

/** Whether this very process lives. */
export function isAlive({ pid, startTime }: ProcessId): boolean {
  return identify(pid)?.startTime === startTime
}

function readProcess(pid: number): ProcessInfo | undefined {
  const stat = readStat(pid)
  return stat && {
    pid, startTime: stat.startTime, parent: stat.parent, group: stat.group, session: stat.session,
    get command() { return commandOf(pid) || stat.name },
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0$/, '').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function readStat(pid: number): { readonly startTime: string, readonly parent: number, readonly group: number, readonly session: number, readonly name: string } | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    // It ended, perhaps while it was looked at.
    return undefined
  }
  // The name in parentheses may hold anything, parentheses too.
  const nameEnd = stat.lastIndexOf(')')
  const [state, parent, group, session, ...rest] = stat.slice(nameEnd + 2).split(' ')
  if (isOver(state)) return undefined
  return { startTime: rest[15]!, parent: Number(parent), group: Number(group), session: Number(session), name: stat.slice(stat.indexOf('(') + 1, nameEnd) }
}

function askPs(): string {
  // It writes the time in the language and zone that it is given, and this one is compared with what another program wrote.
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart=,command='], { encoding: 'utf8', maxBuffer: Infinity, env })
}

/** The processes in what `ps -A -o pid=,ppid=,pgid=,stat=,lstart=,command=` prints. */
export function parsePs(output: string): ProcessInfo[] {
  return output.split('\n').flatMap(line => {
    const [, pid, parent, group, state, startTime, command] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/.exec(line) ?? []
    if (pid === undefined || isOver(state)) return []
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: Number(group), startTime: startTime!.replace(/\s+/g, ' '), command: command! }]
  })
}

function isOver(state: string | undefined): boolean {
  return state === undefined || /^[ZX]/.test(state)
}
