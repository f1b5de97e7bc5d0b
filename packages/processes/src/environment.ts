import { readFileSync } from 'node:fs'

/**
 * Whether process `pid` was started with variable `name`, its value beginning with `start`: what a program leaves behind keeps the environment
 * that it was given, also where it has left every group, session and parent. Linux only, and only of one's own processes; else `false`.
 */
export function wasStartedWith(pid: number, name: string, start: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(`\0${name}=${start}`)
  } catch {
    // It ended, is another user's, or there is no /proc.
    return false
  }
}
