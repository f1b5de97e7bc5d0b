import type { AnyMessage, ClientConnection, RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk/unstable'
import type { AgentProcess } from './agent-process.ts'
import { MessageLines } from './messages.ts'

/** Lines on stdout that were no message: kept for a diagnosis, the first few of them. */
const keptNoise = 5
const noiseCharacters = 300
/** A whole answer, in one line: more than that is no agent that can be worked with. */
const maxMessageBytes = 32 * 1024 * 1024
/** Messages read ahead of what was handled: an agent that writes more waits. */
const readAhead = 256
/** How long what an agent wrote last may take to arrive after its end. */
const drainMs = 100

export interface ConnectionHandlers {
  /** The parameters of a `session/update`, in the order in which they were written, before any answer that was written after them. */
  update(params: unknown): void
  /** Anything at all was heard. */
  heard(): void
  permission(params: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>
}

/**
 * The wire to one agent: the SDK's connection over a stream of our own.
 *
 * The SDK checks each `session/update` against its schema, drops what does not fit, and handles the rest after the answer
 * that came behind them. So updates are taken off the stream here, and so is all that would make it write to the console.
 */
export class Connection {
  /** The first lines on stdout that were no message. */
  readonly noise: string[] = []
  noiseCount = 0
  /** Why nothing more is read, where that was our decision. */
  problem: string | undefined
  private readonly client: Promise<ClientConnection>
  private readonly pending = new Set<string | number>()

  constructor(process: AgentProcess, handlers: ConnectionHandlers) {
    const stream = { readable: this.read(process, handlers), writable: this.write(process) }
    // Loaded while the agent starts: it takes its time, and an app without such children never needs it.
    this.client = import('@agentclientprotocol/sdk/unstable').then(({ client, methods }) => client({ name: 'offshoot' })
      .onRequest(methods.client.session.requestPermission, params => params as RequestPermissionRequest, ({ params, signal }) => handlers.permission(params, signal))
      .connect(stream))
    this.client.catch(() => {})
  }

  /** Send a request; rejects as the agent answers, or once nothing more can come. */
  async request(method: string, params: object): Promise<unknown> {
    return (await this.client).agent.request<unknown, object>(method, params)
  }

  /** Settles once it is written. */
  async notify(method: string, params: object): Promise<void> {
    await (await this.client).agent.notify(method, params)
  }

  /** Let go of the stream: what is still asked for rejects. The process is not touched. */
  async close(): Promise<void> {
    const client = await this.client.catch(() => undefined)
    client?.close()
    await client?.closed.catch(() => {})
  }

  private read(process: AgentProcess, handlers: ConnectionHandlers): ReadableStream<AnyMessage> {
    const { stdout } = process
    let isOpen = true
    return new ReadableStream<AnyMessage>({
      start: controller => {
        const end = (): void => {
          if (!isOpen) return
          isOpen = false
          controller.close()
        }
        const lines = new MessageLines({
          message: message => {
            handlers.heard()
            if (isOpen && !this.isTakenOff(message, handlers)) controller.enqueue(message)
          },
          noise: text => { this.addNoise(text) },
          tooLong: bytes => {
            this.problem = `a message of more than ${maxMessageBytes} bytes (${bytes} so far)`
            stdout.resume()
            end()
          },
        }, maxMessageBytes)
        stdout.on('data', (chunk: Buffer) => {
          lines.write(chunk)
          if (isOpen && (controller.desiredSize ?? 0) <= 0) stdout.pause()
        })
        const finish = (): void => {
          lines.end()
          end()
        }
        // A stream that breaks ends, as far as anybody can read it.
        stdout.once('close', finish)
        // What an agent left running may hold its stdout open: nothing more of the agent comes out of it.
        void process.exited.then(() => {
          setTimeout(() => {
            finish()
            stdout.destroy()
          }, drainMs).unref()
        })
      },
      pull: () => { stdout.resume() },
      // Closed from this side: what still comes is drained, so that the agent can end.
      cancel: () => {
        isOpen = false
        stdout.resume()
      },
    }, { highWaterMark: readAhead })
  }

  /** Whether `message` is ours, and not the SDK's. */
  private isTakenOff(message: AnyMessage, handlers: ConnectionHandlers): boolean {
    if (!('method' in message)) {
      // Of an answer to nothing that was asked, the SDK would speak on the console.
      const isAwaited = message.id !== null && this.pending.delete(message.id)
      if (!isAwaited) this.addNoise(JSON.stringify(message))
      return !isAwaited
    }
    if ('id' in message) return false
    if (message.method === 'session/update') handlers.update(message.params)
    return message.method !== '$/cancel_request'
  }

  private write({ stdin }: AgentProcess): WritableStream<AnyMessage> {
    return new WritableStream<AnyMessage>({
      write: message => {
        if ('method' in message && 'id' in message && message.id !== null) this.pending.add(message.id)
        return new Promise((resolve, reject) => {
          stdin.write(`${JSON.stringify(message)}\n`, error => { if (error) reject(error); else resolve() })
        })
      },
    })
  }

  private addNoise(text: string): void {
    this.noiseCount++
    if (this.noise.length < keptNoise) this.noise.push(text.length > noiseCharacters ? `${text.slice(0, noiseCharacters)}…` : text)
  }
}
