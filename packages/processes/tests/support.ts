import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

/** A shell that runs `script`, as the leader of a session of its own. It goes when the test ends. Settles when it has said its first line. */
export async function startShell(script: string, env: Record<string, string> = {}): Promise<{ readonly child: ChildProcess, readonly pid: number, readonly said: string, readonly exited: Promise<unknown[]> }> {
  const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'], env: { PATH: process.env['PATH'], ...env } })
  onTestFinished(() => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // It has ended.
    }
  })
  // From the start: a short script can be over before what it said is read.
  const exited = once(child, 'exit')
  const [said] = await once(child.stdout, 'data') as [Buffer]
  return { child, pid: child.pid!, said: said.toString().trim(), exited }
}
