import { appendFileSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { deepFreeze } from './freeze.ts'
import { Session } from './session.ts'
import { titleOf } from './title.ts'
import type { Entry, SessionHeader } from './types.ts'

/** The first line of a file: who a session is, and what it shares with another. */
interface FileHeader extends SessionHeader {
  readonly type: 'session'
  readonly forkedFrom?: { readonly id: string, readonly length: number }
}

/** A session that was kept, as a list shows it. */
export interface KeptSession extends SessionHeader {
  /** The first words of its user, in one line. */
  readonly title?: string
  /** When it was written to last, in milliseconds since the epoch. */
  readonly updatedAt: number
}

/** Where a title is looked for. */
const startBytes = 64 * 1024
const interrupted = 'Error: the process ended before this call did; whether it had an effect is not known'

/**
 * Sessions on disk: one JSONL file each, header first, then an entry a line, written as it is appended. A fork holds its own
 * entries, and where the rest is.
 */
export class SessionStore {
  private readonly dir: string

  /** @throws {Error} for a folder that cannot be made. */
  constructor(dir: string) {
    mkdirSync(dir, { recursive: true })
    this.dir = dir
  }

  /** Write down what `session` is, and all that it is told from now on. One that is told nothing leaves no file. */
  follow(session: Session, forkedFrom?: FileHeader['forkedFrom']): void {
    const file = this.file(session.id)
    let isOpen = false
    session.onAppend = entry => {
      const header: FileHeader | undefined = isOpen ? undefined : { type: 'session', ...session.header, ...(forkedFrom ? { forkedFrom } : {}) }
      isOpen = true
      appendFileSync(file, `${header ? `${JSON.stringify(header)}\n` : ''}${JSON.stringify(entry)}\n`, { mode: 0o600 })
    }
  }

  /** The session of that id, mended where its process ended in the middle; `undefined` for one that was not kept. */
  load(id: string): Session | undefined {
    const session = this.read(id)
    if (!session) return undefined
    // A line that was cut stays a line of its own.
    let start = this.lines(id).at(-1) === '' ? '' : '\n'
    session.onAppend = entry => {
      appendFileSync(this.file(id), `${start}${JSON.stringify(entry)}\n`)
      start = ''
    }
    mend(session)
    return session
  }

  /** Those that no other agent delegated, newest first. */
  list(): KeptSession[] {
    const kept = readdirSync(this.dir).flatMap(name => name.endsWith('.jsonl') ? this.describe(name) ?? [] : [])
    return kept.sort((a, b) => b.updatedAt - a.updatedAt)
  }

  private read(id: string): Session | undefined {
    const [first, ...rest] = this.lines(id)
    const header = parse(first) as FileHeader | undefined
    if (header?.type !== 'session' || header.id !== id) return undefined
    const { type: _type, forkedFrom, ...own } = header
    const base = forkedFrom && this.read(forkedFrom.id)
    if (forkedFrom && (!base || base.length < forkedFrom.length)) return undefined
    const session = base && forkedFrom ? base.fork(own, forkedFrom.length) : new Session(own)
    for (const line of rest) {
      const entry = parse(line) as Entry | undefined
      // The last line may be cut: the process ended as it wrote.
      if (entry?.type === 'message') session.restore(deepFreeze(entry))
    }
    return session
  }

  private describe(name: string): KeptSession | undefined {
    const file = join(this.dir, name)
    const [first, ...rest] = startOf(file).split('\n')
    const header = parse(first) as FileHeader | undefined
    if (header?.type !== 'session' || header.parent !== undefined) return undefined
    const { type: _type, forkedFrom: _forkedFrom, ...own } = header
    const title = titleOf(rest.map(line => parse(line) as Entry | undefined))
    return { ...own, ...(title === undefined ? {} : { title }), updatedAt: statSync(file).mtimeMs }
  }

  private lines(id: string): string[] {
    // Ids come from outside: one that is none leads nowhere.
    if (!/^ses_[a-z0-9]+$/.test(id)) return []
    try {
      return readFileSync(this.file(id), 'utf8').split('\n')
    } catch {
      return []
    }
  }

  private file(id: string): string {
    return join(this.dir, `${id}.jsonl`)
  }
}

/** Answer the calls that nothing answered: a model takes no history in which a call has no result. */
function mend(session: Session): void {
  const message = session.last?.message
  if (message?.role !== 'assistant') return
  const calls = message.content.filter(part => part.type === 'tool-call')
  if (calls.length === 0) return
  const content = calls.map(({ toolCallId, toolName }) => ({ type: 'tool-result' as const, toolCallId, toolName, output: { type: 'error-text' as const, value: interrupted } }))
  session.append(deepFreeze({ role: 'tool' as const, content }))
}

function startOf(file: string): string {
  const buffer = Buffer.alloc(startBytes)
  const fd = openSync(file, 'r')
  try {
    return buffer.toString('utf8', 0, readSync(fd, buffer, 0, startBytes, 0))
  } finally {
    closeSync(fd)
  }
}

function parse(line: string | undefined): unknown {
  try {
    return line ? JSON.parse(line) : undefined
  } catch {
    return undefined
  }
}
