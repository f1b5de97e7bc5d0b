import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../lib/bin.cjs', import.meta.url))

export interface Answer {
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number, readonly message: string, readonly data?: unknown }
}

export interface Update {
  readonly sessionId: string
  readonly update: { readonly sessionUpdate: string, readonly [key: string]: unknown }
}

/** A client that speaks the protocol by hand to `offshoot acp`: nothing stands between a test and the wire. */
export class AcpClient implements AsyncDisposable {
  readonly updates: Update['update'][] = []
  /** Everything on stdout that is no message. */
  readonly noise: string[] = []
  stderr = ''
  readonly process: ReturnType<typeof spawn>
  readonly exited: Promise<unknown[]>
  /** Answers what the agent asks; `undefined` leaves it waiting. */
  onAsk: (method: string, params: Record<string, unknown>) => object | undefined = () => undefined
  private readonly pending = new Map<number, (answer: Answer) => void>()
  private readonly waiting = new Set<() => void>()
  private counter = 0

  /** `command`: what starts the agent, where that is not told by `args`, the options of `offshoot acp`. */
  constructor({ cwd, env = {}, args = [], command = [process.execPath, bin, 'acp', ...args] }: {
    readonly cwd: string, readonly env?: Record<string, string>, readonly args?: readonly string[], readonly command?: readonly string[]
  }) {
    const { OPENAI_BASE_URL: _url, OPENAI_MODEL: _model, OPENAI_API_KEY: _key, ...rest } = process.env
    this.process = spawn(command[0]!, command.slice(1), { cwd, env: { ...rest, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
    this.exited = once(this.process, 'exit')
    this.process.stderr!.setEncoding('utf8').on('data', (text: string) => { this.stderr += text })
    createInterface({ input: this.process.stdout! }).on('line', line => { this.heard(line) })
  }

  request(method: string, params: object): Promise<Answer> {
    const id = ++this.counter
    return new Promise(resolve => {
      this.pending.set(id, resolve)
      this.write({ id, method, params })
    })
  }

  notify(method: string, params: object): void {
    this.write({ method, params })
  }

  /** Up to a session. Answers its id. */
  async open(cwd: string, more: object = {}): Promise<string> {
    await this.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
    const { result, error } = await this.request('session/new', { cwd, mcpServers: [], ...more })
    if (!result) throw new Error(`no session: ${error?.message} ${JSON.stringify(error?.data)}`)
    return result['sessionId'] as string
  }

  prompt(sessionId: string, text: string): Promise<Answer> {
    return this.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
  }

  /** What the agent said, in one text. */
  get text(): string {
    return this.updates.filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk').map(({ content }) => (content as { text?: string }).text ?? '').join('')
  }

  /** Until an update is there that `isIt`. */
  async until(isIt: (update: Update['update']) => boolean): Promise<Update['update']> {
    for (;;) {
      const found = this.updates.find(isIt)
      if (found) return found
      await Promise.race([new Promise<void>(resolve => { this.waiting.add(resolve) }), this.exited.then(() => { throw new Error(`it ended: ${this.stderr}`) })])
    }
  }

  endInput(): void {
    this.process.stdin!.end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.endInput()
    const late = setTimeout(() => { this.process.kill('SIGKILL') }, 8000)
    await this.exited
    clearTimeout(late)
  }

  /** Of the request that was sent last. */
  get lastId(): number {
    return this.counter
  }

  writeLine(line: string): void {
    this.process.stdin!.write(`${line}\n`)
  }

  private write(message: object): void {
    this.writeLine(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  private heard(line: string): void {
    let message: { id?: number, method?: string, params?: Record<string, unknown> } & Answer
    try {
      message = JSON.parse(line) as typeof message
    } catch {
      this.noise.push(line)
      return
    }
    if (message.method === 'session/update') {
      this.updates.push((message.params as unknown as Update).update)
      for (const resolve of this.waiting) resolve()
      this.waiting.clear()
    } else if (message.method !== undefined && message.id !== undefined) {
      const result = this.onAsk(message.method, message.params ?? {})
      if (result) this.write({ id: message.id, result })
    } else if (message.id !== undefined) {
      this.pending.get(message.id)?.(message)
      this.pending.delete(message.id)
    }
  }
}
