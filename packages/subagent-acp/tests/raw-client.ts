import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fakeAgent, type FakeAgentOptions } from '../src/testing.ts'

export interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly update?: Readonly<Record<string, unknown>> } & Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number, readonly message: string }
}

/** A fake agent and the pipes to it, with nothing between them and the test. */
export class RawClient implements AsyncDisposable {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>
  /** Exit code or signal. */
  readonly exit: Promise<number | string>
  /** When its pipes are closed and read. */
  readonly closed: Promise<unknown>
  /** What arrived at once, as it did. */
  readonly pieces: string[] = []
  stderr = ''
  private readonly output = new EventEmitter()
  private lastId = 0

  constructor(options: FakeAgentOptions = {}, env: Record<string, string> = {}) {
    const { command, args } = fakeAgent(options)
    this.process = spawn(command, args, { stdio: 'pipe', detached: true, env: { PATH: process.env['PATH'], ...env } })
    this.process.stdin.on('error', () => {})
    this.process.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.pieces.push(text)
      this.output.emit('data')
    })
    this.process.stderr.setEncoding('utf8').on('data', (text: string) => { this.stderr += text })
    this.exit = once(this.process, 'exit').then(([code, signal]) => (code ?? signal) as number | string)
    this.closed = once(this.process, 'close')
    void this.exit.then(() => this.output.emit('data'))
  }

  /** An agent that has a session. */
  static async withSession(options: FakeAgentOptions): Promise<RawClient> {
    const agent = new RawClient(options)
    await agent.initialize()
    await agent.newSession()
    return agent
  }

  /** All lines so far that hold a message and nothing else. */
  get messages(): Message[] {
    return this.pieces.join('').split('\n').slice(0, -1).filter(line => line.startsWith('{"jsonrpc"')).map(line => JSON.parse(line) as Message)
  }

  /** The answer's text so far. */
  get text(): string {
    return this.updates('agent_message_chunk').map(({ content }) => (content as { text?: string } | undefined)?.text ?? '').join('')
  }

  updates(kind: string): Readonly<Record<string, unknown>>[] {
    return this.messages.flatMap(({ params }) => params?.update?.['sessionUpdate'] === kind ? [params.update] : [])
  }

  /** The first message that fits, now or later. Rejects when the agent ends without. */
  async message(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.messages.find(fits)
      if (found) return found
      if (this.process.exitCode !== null || this.process.signalCode !== null) throw new Error('the agent ended')
      await once(this.output, 'data')
    }
  }

  write(message: object): void {
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  request(method: string, params: object): Promise<Message> {
    const id = ++this.lastId
    this.write({ id, method, params })
    return this.message(each => each.id === id && each.method === undefined)
  }

  initialize(params: object = {}): Promise<Message> {
    return this.request('initialize', { protocolVersion: 1, ...params })
  }

  newSession(params: object = {}): Promise<Message> {
    return this.request('session/new', { cwd: '/', mcpServers: [], ...params })
  }

  prompt(text = 'hello'): Promise<Message> {
    return this.request('session/prompt', { sessionId: 'session-1', prompt: [{ type: 'text', text }] })
  }

  cancel(): void {
    this.write({ method: 'session/cancel', params: { sessionId: 'session-1' } })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill('SIGKILL')
    await this.exit
  }
}
