import { type Context, Service } from 'cordis'
import { Session } from './session.ts'
import type { SessionHeader } from './types.ts'

export { Session } from './session.ts'
export { promptBlocks, textOf } from './content.ts'
export { deepFreeze } from './freeze.ts'
export { noUsage } from './no-usage.ts'
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

// Sessions made in one millisecond still sort by creation; the last part keeps two processes apart.
const process36 = Array.from(crypto.getRandomValues(new Uint8Array(6)), byte => (byte % 36).toString(36)).join('')
let counter = 0

function sessionId(now: number): string {
  return `ses_${now.toString(36).padStart(9, '0')}${(counter++).toString(36).padStart(5, '0')}${process36}`
}

/** The plain core behind `ctx.sessions`: plugins on a hot path take it once and keep it. */
export class SessionCore {
  create(options: SessionOptions): Session {
    return new Session(this.header(options))
  }

  /** A session that begins with the first `upTo` entries of `source`, sharing them. */
  fork(source: Session, options: SessionOptions, upTo?: number): Session {
    return source.fork(this.header(options), upTo)
  }

  private header({ parent, depth, cwd }: SessionOptions): SessionHeader {
    const createdAt = Date.now()
    const id = sessionId(createdAt)
    return parent === undefined ? { id, depth, createdAt, cwd, version: 1 } : { id, parent, depth, createdAt, cwd, version: 1 }
  }
}

/** Makes sessions. They live in memory, as long as somebody holds them. */
export class SessionService extends Service {
  readonly core: SessionCore = new SessionCore()

  constructor(ctx: Context) {
    super(ctx, 'sessions')
  }

  create(options: SessionOptions): Session {
    return this.core.create(options)
  }

  fork(source: Session, options: SessionOptions, upTo?: number): Session {
    return this.core.fork(source, options, upTo)
  }
}

export default SessionService
