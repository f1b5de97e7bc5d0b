import { onAbort } from '@offshoot/agent'
import type { CappedOutput } from '@offshoot/tools'
import { execa } from './bundled/execa.ts'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { ShellError } from './error.ts'
import { ProcessGroup } from './group.ts'

/** How long what a command leaves behind may take to end by itself. */
const settleMs = 200

export interface CommandOptions {
  readonly command: string
  readonly shell: string
  readonly cwd: string
  readonly env: Record<string, string>
  readonly timeoutMs: number
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number
  readonly signal?: AbortSignal | undefined
}

/** How a command ended by itself, or by its timeout. */
export interface CommandEnd {
  readonly exitCode: number | undefined
  /** What ended its shell, where a signal did. */
  readonly signal: NodeJS.Signals | undefined
  readonly timedOut: boolean
  /** Command lines of the background processes that were ended after it. */
  readonly ended: readonly string[]
}

interface Exit {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

/** A shell command in a process group of its own, without input or a terminal. It runs from the start. */
export class Command {
  /** Settles when nothing of its group lives. @throws {ShellError} `NOT_STARTED`, `CANCELLED`. */
  readonly end: Promise<CommandEnd>
  private readonly child: ReturnType<typeof spawn>
  private readonly group: ProcessGroup | undefined
  private readonly interrupted: Promise<'timeout' | 'cancelled'>
  private interrupt!: (why: 'timeout' | 'cancelled') => void

  constructor(options: CommandOptions, output: CappedOutput) {
    this.interrupted = new Promise(resolve => { this.interrupt = resolve })
    this.child = spawn(options)
    this.child.stdout.on('data', (chunk: Buffer) => { output.write(chunk) })
    this.group = this.child.pid === undefined ? undefined : new ProcessGroup(this.child.pid)
    this.end = this.run(options)
  }

  /** End it, as its signal does. */
  cancel(): void {
    this.interrupt('cancelled')
  }

  /** SIGKILL, without waiting: for a process that is about to exit. */
  kill(): void {
    this.group?.kill()
  }

  private async run({ timeoutMs, graceMs, signal }: CommandOptions): Promise<CommandEnd> {
    const { child, group } = this
    const exited = new Promise<Exit>(resolve => { child.once('exit', (exitCode, by) => { resolve({ exitCode, signal: by }) }) })
    const closed = new Promise<void>(resolve => { child.stdout.once('close', resolve) })
    if (!group) throw new ShellError('NOT_STARTED', `the shell could not be started: ${(await child).originalMessage}`)
    const timer = setTimeout(() => { this.interrupt('timeout') }, timeoutMs)
    const unlisten = signal && onAbort(signal, () => { this.interrupt('cancelled') })
    try {
      const first = await Promise.race([exited, this.interrupted])
      const left = typeof first === 'string' ? [] : await group.settle(settleMs)
      if (typeof first === 'string' || left.length > 0) await group.end(graceMs)
      await this.drain(closed)
      if (first === 'cancelled') throw cancelled()
      if (first === 'timeout') return { exitCode: undefined, signal: undefined, timedOut: true, ended: [] }
      return { exitCode: first.exitCode ?? undefined, signal: first.signal ?? undefined, timedOut: false, ended: left }
    } finally {
      clearTimeout(timer)
      unlisten?.()
    }
  }

  /** Takes in what was written. A process that left the group may hold the pipe open for ever: it is not waited for. */
  private async drain(closed: Promise<void>): Promise<void> {
    await Promise.race([closed, delay(settleMs, undefined, { ref: false })])
    // A busy process can be late for its timer: what has arrived by now is read before the pipe is let go.
    await setImmediate()
    this.child.stdout.destroy()
  }
}

export function cancelled(): ShellError {
  return new ShellError('CANCELLED', 'shell command was cancelled')
}

function spawn({ command, shell, cwd, env }: CommandOptions) {
  // Both streams are one pipe, so that their order is the one in which they were written. The space keeps a command
  // that begins with "-" from being taken for an option.
  return execa('/bin/sh', ['-c', 'exec "$0" -c "$1" 2>&1', shell, ` ${command}`], {
    cwd, env, extendEnv: false, stdin: 'ignore', stdout: 'pipe', stderr: 'ignore', detached: true, cleanup: false,
    buffer: false, encoding: 'buffer', reject: false,
  })
}
