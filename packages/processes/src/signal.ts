import { isAlive, type ProcessId } from './list.ts'

/** Signal a process group; 0 only asks. Answers whether there is one. The groups 0 and 1 are none: to the system they mean one's own, and everybody. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  return group > 1 && send(-group, signal)
}

/** Signal this very process, and never another one that has its pid by now. Answers whether it lives. */
export function signalProcess(id: ProcessId, signal: NodeJS.Signals | 0): boolean {
  return isAlive(id) && send(id.pid, signal)
}

function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal)
    return true
  } catch (error) {
    // Anything but "no such process" means that there is one, of another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
