import type { Entry, Message, SessionHeader } from './types.ts'

/**
 * An append-only log of messages. A fork shares its prefix by reference, so it costs the same whatever the history's length.
 *
 * Model history is derived from the log and only ever grows at its end: each request extends the one before.
 */
export class Session {
  readonly header: SessionHeader
  /** Entries of this session alone; those it shares with what it was forked from are in `base`. */
  private readonly own: Entry[] = []
  /** What a model is sent for each of them. */
  private readonly history: Message[] = []
  private readonly base: Session | undefined
  private readonly baseLength: number

  constructor(header: SessionHeader, base?: Session, baseLength = 0) {
    this.header = Object.freeze(header)
    this.base = base
    this.baseLength = baseLength
  }

  get id(): string {
    return this.header.id
  }

  /** Entries in all, the shared prefix included. */
  get length(): number {
    return this.baseLength + this.own.length
  }

  /** How many of them came from the session that this one was forked from. */
  get inherited(): number {
    return this.baseLength
  }

  /** Add a message at the end. The caller hands it over frozen, parts included: entries are shared, never copied. */
  append(message: Message): Entry {
    const entry: Entry = Object.freeze({ type: 'message' as const, at: Date.now(), message })
    this.own.push(entry)
    this.history.push(forModel(message))
    return entry
  }

  /**
   * A new session that starts with the first `upTo` entries of this one.
   *
   * Nothing is copied; what either session appends afterwards is its own.
   *
   * @throws {RangeError} if `upTo` is no length this log has had.
   */
  fork(header: SessionHeader, upTo: number = this.length): Session {
    if (!Number.isInteger(upTo) || upTo < 0 || upTo > this.length) {
      throw new RangeError(`cannot fork session ${this.id} at entry ${upTo}: it has ${this.length}`)
    }
    if (this.base && upTo <= this.baseLength) return this.base.fork(header, upTo)
    return new Session(header, this, upTo)
  }

  /** The entries from `start` on, oldest first: a new array of shared entries. */
  entries(start = 0): Entry[] {
    return this.chain().flatMap(([session, count]) => session.own.slice(0, count)).slice(start)
  }

  /** The history for a model request, after `system`: a new array of shared messages. */
  messages(system: Message): Message[] {
    if (!this.base) return [system].concat(this.history)
    return [system].concat(...this.chain().map(([session, count]) =>
      count === session.history.length ? session.history : session.history.slice(0, count)))
  }

  /** The sessions that hold this log's entries, outermost prefix first, with how many of each belong to it. */
  private chain(): [Session, number][] {
    const out: [Session, number][] = []
    let end = this.length
    for (let session: Session | undefined = this; session; session = session.base) {
      if (end > session.baseLength) out.push([session, end - session.baseLength])
      end = Math.min(end, session.baseLength)
    }
    return out.reverse()
  }
}

/** The log survives JSON, so it holds a file's address as text; the AI SDK takes text for base64 and wants a `URL`. */
function forModel(message: Message): Message {
  if (message.role !== 'user' || !message.content.some(isRemote)) return message
  return { ...message, content: message.content.map(part => isRemote(part) ? { ...part, data: new URL(part.data) } : part) }
}

function isRemote<T extends { type: string }>(part: T): part is T & { type: 'file', data: string } {
  return part.type === 'file' && 'data' in part && typeof part.data === 'string' && /^https?:/.test(part.data)
}
