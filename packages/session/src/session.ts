import type { Entry, EntrySource, Message, SessionHeader } from './types.ts'

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
  private readonly baseTurns: number
  /** Length of the log at each turn that began here; made at the first. */
  private turnStarts: number[] | undefined
  /** Hears each entry as it is appended: whoever keeps the log. */
  onAppend: ((entry: Entry) => void) | undefined

  constructor(header: SessionHeader, base?: Session, baseLength = 0) {
    this.header = Object.freeze(header)
    this.base = base
    this.baseLength = baseLength
    this.baseTurns = base ? base.turnsWithin(baseLength) : 0
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

  /** The newest entry. */
  get last(): Entry | undefined {
    return this.at(this.length - 1)
  }

  /** What is appended from here on is a new turn. One in which nothing came counts for nothing. */
  beginTurn(): void {
    if (this.turnStarts?.at(-1) !== this.length) (this.turnStarts ??= []).push(this.length)
  }

  /** How many turns began within the first `length` entries. It costs no more for a longer history. */
  turnsWithin(length: number): number {
    if (this.base && length <= this.baseLength) return this.base.turnsWithin(length)
    // From the end: who asks, asks for the newest turns.
    return this.baseTurns + (this.turnStarts?.findLastIndex(start => start < length) ?? -1) + 1
  }

  /**
   * Add a message at the end. The caller hands it over frozen, parts included: entries are shared, never copied.
   *
   * `source` says of a user-role message that no user wrote it.
   */
  append(message: Message, source?: EntrySource): Entry {
    const entry: Entry = Object.freeze(source === undefined
      ? { type: 'message' as const, at: Date.now(), message }
      : { type: 'message' as const, at: Date.now(), message, source })
    this.push(entry)
    this.onAppend?.(entry)
    return entry
  }

  /** Take back an entry that was kept. The caller hands it over frozen. A message of the user, where one stood before, begins a turn. */
  restore(entry: Entry): void {
    if (entry.message.role === 'user' && this.last?.message.role !== 'user') this.beginTurn()
    this.push(entry)
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

  private push(entry: Entry): void {
    this.own.push(entry)
    this.history.push(forModel(entry.message))
  }

  private at(index: number): Entry | undefined {
    return this.base && index < this.baseLength ? this.base.at(index) : this.own[index - this.baseLength]
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
