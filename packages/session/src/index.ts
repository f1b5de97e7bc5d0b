import { type Context, Service } from 'cordis'
import z from 'schemastery'
import { Session } from './session.ts'
import { type KeptSession, SessionStore } from './store.ts'
import type { SessionHeader } from './types.ts'

export { Session } from './session.ts'
export { promptBlocks, textOf } from './content.ts'
export { deepFreeze } from './freeze.ts'
export { noUsage } from './no-usage.ts'
export type { KeptSession } from './store.ts'
export { titleOf } from './title.ts'
export type {
  ContentBlock, Entry, EntrySource, FileBlock, Message, MessagePart, Prompt, ProviderMetadata, ReasoningBlock, SessionHeader, TextBlock,
  ToolCallPart, ToolResultPart, Usage,
} from './types.ts'

declare module 'cordis' {
  interface Context {
    sessions: SessionService
  }
}

export interface SessionOptions {
  readonly parent?: string
  readonly depth: number
  readonly cwd: string
}

// Sessions made in one millisecond still sort by creation; the last part keeps two processes apart. `crypto` would take
// longer to load than all of this package, and nobody has to be kept from guessing.
const process36 = Math.random().toString(36).slice(2, 8).padEnd(6, '0')
let counter = 0

function sessionId(now: number): string {
  return `ses_${now.toString(36).padStart(9, '0')}${(counter++).toString(36).padStart(5, '0')}${process36}`
}

/** The plain core behind `ctx.sessions`: plugins on a hot path take it once and keep it. */
export class SessionCore {
  private readonly store: SessionStore | undefined

  /** @param dir where sessions are kept; absent: in memory alone. */
  constructor(dir?: string) {
    this.store = dir === undefined ? undefined : new SessionStore(dir)
  }

  create(options: SessionOptions): Session {
    const session = new Session(this.header(options))
    this.store?.follow(session)
    return session
  }

  /** A session that begins with the first `upTo` entries of `source`, sharing them. */
  fork(source: Session, options: SessionOptions, upTo?: number): Session {
    const session = source.fork(this.header(options), upTo)
    this.store?.follow(session, { id: source.id, length: session.inherited })
    return session
  }

  /** A session that was kept; `undefined` where there is none of that id. */
  load(id: string): Session | undefined {
    return this.store?.load(id)
  }

  /** What was kept, without what was delegated; newest first. */
  list(): KeptSession[] {
    return this.store?.list() ?? []
  }

  private header({ parent, depth, cwd }: SessionOptions): SessionHeader {
    const createdAt = Date.now()
    const id = sessionId(createdAt)
    return parent === undefined ? { id, depth, createdAt, cwd, version: 1 } : { id, parent, depth, createdAt, cwd, version: 1 }
  }
}

/** Makes sessions. They live in memory, as long as somebody holds them; with `dir`, they are also kept on disk. */
export class SessionService extends Service {
  readonly core: SessionCore

  constructor(ctx: Context, config: SessionService.Config = {}) {
    super(ctx, 'sessions')
    this.core = new SessionCore(config.dir)
  }

  create(options: SessionOptions): Session {
    return this.core.create(options)
  }

  fork(source: Session, options: SessionOptions, upTo?: number): Session {
    return this.core.fork(source, options, upTo)
  }

  /** A session that was kept, mended where its process ended in the middle; `undefined` where there is none of that id. */
  load(id: string): Session | undefined {
    return this.core.load(id)
  }

  /** What was kept, without what was delegated; newest first. */
  list(): KeptSession[] {
    return this.core.list()
  }
}

export namespace SessionService {
  export interface Config {
    /** A folder for one JSONL file for each session. Absent: nothing is kept. */
    dir?: string
  }

  export const Config: z<Config> = z.object({
    dir: z.string().description('A folder for one JSONL file for each session.'),
  })
}

export default SessionService
