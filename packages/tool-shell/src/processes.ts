import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

export interface Process {
  readonly group: number
  /** Its arguments, else its name. */
  readonly command: string
}

/**
 * The processes of session `id`, of whatever group: `timeout` and `set -m` make groups of their own. Where the system
 * does not say, those of group `id`. Those that are over and only wait to be reaped do not count.
 */
export function processesOf(id: number): Process[] {
  return process.platform === 'linux' ? fromProc(id) : fromPs(id)
}

function fromProc(id: number): Process[] {
  return readdirSync('/proc').filter(name => /^\d+$/.test(name)).flatMap(pid => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // The name in parentheses may hold anything; what follows it is state, parent, group and session.
      const nameEnd = stat.lastIndexOf(')')
      const [state, , group, session] = stat.slice(nameEnd + 2).split(' ')
      if (Number(session) !== id || isOver(state)) return []
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0$/, '').replaceAll('\0', ' ')
      return [{ group: Number(group), command: command || stat.slice(stat.indexOf('(') + 1, nameEnd) }]
    } catch {
      // It ended while it was looked at.
      return []
    }
  })
}

function fromPs(id: number): Process[] {
  return execFileSync('ps', ['-A', '-o', 'pgid=,stat=,command='], { encoding: 'utf8', maxBuffer: Infinity }).split('\n').flatMap(line => {
    const [, group, state, command] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    return Number(group) === id && !isOver(state) ? [{ group: id, command: command! }] : []
  })
}

function isOver(state: string | undefined): boolean {
  return state === undefined || /^[ZX]/.test(state)
}
