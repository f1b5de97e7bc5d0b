import { setTimeout as pause } from 'node:timers/promises'
import type { FakeAgentOptions } from './flags.ts'
import type { Journal } from './journal.ts'
import { halfLine, noise, type Noise } from './noise.ts'
import type { Phase } from './phases.ts'

export interface Incoming {
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly error?: unknown
}

export type Answer = Pick<Incoming, 'result' | 'error'>

/** The pipes to the client. It writes one message a line, unless it was told to break that. */
export class Wire {
  private readonly options: FakeAgentOptions
  private readonly journal: Journal
  private readonly asked = new Map<number, (answer: Answer) => void>()
  private lastId = 0
  private corked: string[] | undefined
  private written = Promise.resolve()

  constructor(options: FakeAgentOptions, journal: Journal) {
    this.options = options
    this.journal = journal
    // A client that went away reads nothing more: the end of stdin says what to do.
    process.stdout.on('error', () => {})
    for (const each of options.banner ?? []) this.write(`${noise[each]}\n`)
  }

  /** Hand over the client's requests and notifications as they come; `ended` when there are no more. */
  listen(receive: (message: Incoming) => void, ended: () => void): void {
    let rest = ''
    process.stdin.setEncoding('utf8')
    process.stdin.on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) this.take(line, receive)
    })
    process.stdin.on('end', ended)
    process.stdin.on('error', ended)
  }

  notify(method: string, params: unknown): void {
    this.send({ method, params }, { end: this.options.glue === 'pair' ? '' : '\n' })
  }

  request(method: string, params: unknown): Promise<Answer> {
    const id = this.lastId++
    return new Promise(resolve => {
      this.asked.set(id, resolve)
      this.send({ id, method, params })
    })
  }

  reply(id: Incoming['id'], answer: Answer, phase: Phase | undefined): void {
    const { glue, glueAt = 'prompt' } = this.options
    const here = phase === glueAt
    this.send({ id, ...answer }, { start: here && glue === 'noise' ? halfLine : '', end: here && glue === 'unended' ? '' : '\n' })
    if (here && glue === 'unended') process.exit(0)
  }

  /** What is written from now on goes out with one write, at `uncork()`. */
  cork(): void {
    this.corked ??= []
  }

  uncork(): void {
    const text = this.corked?.join('')
    this.corked = undefined
    if (text) this.write(text)
  }

  private send(message: object, { start = '', end = '\n' } = {}): void {
    const before = (this.options.noise ?? []).map((each: Noise) => `${noise[each]}\n`).join('')
    this.write(`${before}${start}${JSON.stringify({ jsonrpc: '2.0', ...message })}${end}`)
  }

  private write(text: string): void {
    if (this.corked) {
      this.corked.push(text)
    } else if (this.options.glue === 'split') {
      this.written = this.written.then(() => inPieces(text))
    } else {
      process.stdout.write(text)
    }
  }

  private take(line: string, receive: (message: Incoming) => void): void {
    let message: Incoming
    try {
      message = JSON.parse(line) as Incoming
    } catch {
      this.journal.write('stray', line)
      return
    }
    if (message.method !== undefined) return receive(message)
    const settle = this.asked.get(message.id as number)
    if (!settle) return this.journal.write('stray', message)
    this.asked.delete(message.id as number)
    settle(message)
  }
}

/** Cuts anywhere, also between the bytes of one character. */
async function inPieces(text: string): Promise<void> {
  const bytes = Buffer.from(text)
  const size = Math.ceil(bytes.length / 5)
  for (let at = 0; at < bytes.length; at += size) {
    process.stdout.write(bytes.subarray(at, at + size))
    await pause(2)
  }
}
