import { onAbort } from '@offshoot/agent'
import { AgentProcess } from './agent-process.ts'
import type { Config } from './config.ts'
import { Connection, type ConnectionHandlers } from './connection.ts'
import { diagnosis, type LastHeard, type Redaction } from './diagnosis.ts'
import { AcpError, type AcpErrorCode, type AcpPhase } from './error.ts'
import type { LiveProcess, LiveProcesses } from './live-processes.ts'
import { teardown } from './teardown.ts'

/** JSON-RPC codes that the protocol gives a meaning. */
const authRequired = -32000

/** How long the system may take to say how a process ended whose output is closed. */
const exitKnownMs = 500

export interface AgentSetup {
  readonly config: Config
  /** Absolute, and there. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** What its environment is marked with. */
  readonly mark: string
  readonly redaction: Redaction
  readonly live: LiveProcesses
  readonly handlers: Pick<ConnectionHandlers, 'update' | 'permission'>
}

/** An agent that was started: its process, the wire to it, and what is to be said of it when it fails. */
export class AcpAgent {
  phase: AcpPhase = 'initialize'
  /** Whether its session can be closed before it is ended. */
  closeSession: (() => Promise<unknown>) | undefined
  readonly config: Config
  readonly connection: Connection
  private readonly process: AgentProcess
  private readonly redaction: Redaction
  private readonly own: LiveProcess
  private last: LastHeard | undefined
  private ended: Promise<void> | undefined

  private constructor(process: AgentProcess, { config, mark, redaction, live, handlers }: AgentSetup) {
    this.process = process
    this.config = config
    this.redaction = redaction
    this.own = live.add(process, mark, config.command)
    this.connection = new Connection(process, {
      ...handlers,
      heard: () => { this.last = { at: Date.now(), update: this.last?.update } },
      update: params => {
        this.last = { at: Date.now(), update: kindOf(params) }
        handlers.update(params)
      },
    })
  }

  /** Milliseconds since the epoch; absent while it has never been heard. */
  get heardAt(): number | undefined {
    return this.last?.at
  }

  /** Start the program. @throws {AcpError} `NOT_STARTED`. */
  static async start(setup: AgentSetup): Promise<AcpAgent> {
    const { config: { command, args }, cwd, env } = setup
    return new AcpAgent(await AgentProcess.spawn({ command, args, cwd, env }), setup)
  }

  /**
   * Ask something in `phase`. Rejects with what went wrong, and all that is known of the agent then.
   *
   * @throws {AcpError} `TIMEOUT`, `CLOSED`, `REFUSED`, `AUTH_REQUIRED`, `CANCELLED`.
   */
  async call(phase: AcpPhase, method: string, params: object, { timeoutMs, signal }: { readonly timeoutMs?: number, readonly signal?: AbortSignal } = {}): Promise<unknown> {
    this.phase = phase
    let timer: NodeJS.Timeout | undefined
    let unlink: (() => void) | undefined
    const cut = new Promise<never>((_resolve, reject) => {
      if (timeoutMs !== undefined) timer = setTimeout(() => { reject(this.failure('TIMEOUT', `no answer within ${timeoutMs} ms`)) }, timeoutMs)
      if (signal) unlink = onAbort(signal, () => { reject(new AcpError('CANCELLED', phase, `${phase}: cancelled`, { cause: signal.reason })) })
    })
    try {
      return await Promise.race([this.ask(method, params), cut])
    } finally {
      clearTimeout(timer)
      unlink?.()
    }
  }

  /** What went wrong in the phase under way, with all that is known of the agent. */
  failure(code: AcpErrorCode, message: string, cause?: unknown): AcpError {
    return new AcpError(code, this.phase, `${this.phase}: ${this.redaction.apply(message)} (${this.diagnosis()})`, { cause })
  }

  diagnosis(): string {
    return diagnosis(this.process, this.connection, this.last, this.redaction)
  }

  /** End it, rung by rung, within `budgetMs`. Settles when nothing of it lives. Idempotent. */
  end(budgetMs: number): Promise<void> {
    return this.ended ??= this.finish(budgetMs)
  }

  private async finish(budgetMs: number): Promise<void> {
    try {
      await teardown(this.process, this.own.family, { ...this.config.timeouts, budgetMs, closeSession: this.closeSession })
    } finally {
      this.own.release()
      await this.connection.close()
      for (const stream of [this.process.stdin, this.process.stdout]) stream.destroy()
    }
  }

  private async ask(method: string, params: object): Promise<unknown> {
    try {
      return await this.connection.request(method, params)
    } catch (error) {
      throw await this.explained(error)
    }
  }

  private async explained(error: unknown): Promise<AcpError> {
    if (isRpcError(error)) {
      const details = detailsOf(error.data)
      const text = `the agent answered with error ${error.code}: ${error.message}${details === undefined || details === error.message ? '' : `: ${details}`}`
      return this.failure(error.code === authRequired ? 'AUTH_REQUIRED' : 'REFUSED', text, error)
    }
    await this.process.exitWithin(exitKnownMs)
    return this.failure('CLOSED', this.process.exit ? 'the agent ended' : 'the agent closed its output', error)
  }
}

interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

function isRpcError(error: unknown): error is RpcError {
  return error instanceof Error && 'code' in error && typeof error.code === 'number'
}

/** Some agents put what really happened beside the message. */
function detailsOf(data: unknown): string | undefined {
  if (typeof data === 'string') return data
  if (typeof data !== 'object' || data === null) return undefined
  const text = 'details' in data ? data.details : 'message' in data ? data.message : undefined
  return typeof text === 'string' ? text : undefined
}

function kindOf(params: unknown): string | undefined {
  if (typeof params !== 'object' || params === null || !('update' in params)) return undefined
  const { update } = params
  const kind = typeof update === 'object' && update !== null && 'sessionUpdate' in update ? update.sessionUpdate : undefined
  return typeof kind === 'string' ? kind : undefined
}
