import { identify, type ProcessId } from '@offshoot/processes'
import { execa } from './bundled/execa.ts'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { AcpError } from './error.ts'
import { Tail } from './tail.ts'

/** How much of what an agent writes to stderr is kept: the end. */
const stderrBytes = 8192

export interface ProcessExit {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

export interface SpawnOptions {
  readonly command: string
  readonly args: readonly string[]
  /** Absolute, and there. */
  readonly cwd: string
  /** All of it: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
}

/** An agent's process, the leader of a session and process group of its own. Whoever starts it ends it: `teardown()`. */
export class AgentProcess {
  readonly pid: number
  /** Absent where it was over before it could be looked at. */
  readonly id: ProcessId | undefined
  readonly stdin: Writable
  readonly stdout: Readable
  /** Never rejects. */
  readonly exited: Promise<ProcessExit>
  /** How it ended; absent while it runs. */
  exit: ProcessExit | undefined
  readonly stderr: Tail = new Tail(stderrBytes)

  private constructor(pid: number, child: ReturnType<typeof launch>) {
    this.pid = pid
    this.id = identify(pid)
    this.stdin = child.stdin
    this.stdout = child.stdout
    child.stderr.on('data', (chunk: Buffer) => { this.stderr.write(chunk) })
    // A write to an agent that has closed its input fails; that it ended is known from elsewhere.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {})
    this.exited = new Promise(resolve => {
      child.once('exit', (exitCode, signal) => {
        this.exit = { exitCode, signal }
        resolve(this.exit)
      })
    })
  }

  /** @throws {AcpError} `NOT_STARTED`. */
  static async spawn(options: SpawnOptions): Promise<AgentProcess> {
    const child = launch(options)
    if (child.pid !== undefined) return new AgentProcess(child.pid, child)
    const { originalMessage = 'unknown reason' } = await child
    const hint = originalMessage.includes('ENOENT') ? '; install it, or give its absolute path in "command"' : ''
    throw new AcpError('NOT_STARTED', 'spawn', `the command "${options.command}" could not be started: ${originalMessage}${hint}`)
  }

  /** Wait for its end, `ms` at most. */
  async exitWithin(ms: number): Promise<void> {
    await Promise.race([this.exited, delay(ms, undefined, { ref: false })])
  }

  /** `exited with code 1`, `ended by SIGKILL`, or that it still runs. */
  describe(): string {
    const { exit } = this
    if (!exit) return `process ${this.pid} still runs`
    return exit.signal === null ? `exited with code ${exit.exitCode}` : `ended by ${exit.signal}`
  }
}

function launch({ command, args, cwd, env }: SpawnOptions) {
  return execa(command, args, {
    cwd, env, extendEnv: false, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe', encoding: 'buffer', buffer: false, reject: false,
    // Its end is ours to bring about, rung by rung: its own group, and none of the library's clean-up.
    detached: true, cleanup: false, forceKillAfterDelay: false,
  })
}
