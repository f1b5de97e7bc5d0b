import { agent as agentApp, type AgentConnection, type AgentContext, type InitializeResponse, type NewSessionResponse, RequestError, type SessionConfigOption, type SessionModeState, type Stream } from '@agentclientprotocol/sdk'
import type { Lineage } from '@offshoot/agent'
import { isAbsolute } from 'node:path'
import { statSync } from 'node:fs'
import type { AcpHost } from './host.ts'
import { LiveSession } from './live-session.ts'
import { modeConfigOption, modeOption, modeState } from './modes.ts'
import { replay } from './replay.ts'

export interface ServerOptions {
  readonly stream: Stream
  /** The app: booted once `initialize` is answered. What it rejects with is what every session is refused with. */
  readonly host: () => Promise<AcpHost>
  readonly version: string
}

const modelOption = 'model'

/** Serves the app's agent to one client. */
export class AcpServer {
  readonly connection: AgentConnection
  private readonly host: () => Promise<AcpHost>
  private readonly version: string
  private readonly sessions = new Map<string, LiveSession>()

  constructor({ stream, host, version }: ServerOptions) {
    this.host = host
    this.version = version
    this.connection = agentApp({ name: 'offshoot' })
      .onRequest('initialize', ({ params }) => this.initialize(params.protocolVersion))
      .onRequest('authenticate', () => ({}))
      .onRequest('session/new', ({ params, client }) => this.open(params, client))
      .onRequest('session/list', ({ params }) => this.list(params.cwd))
      .onRequest('session/load', async ({ params, client }) => {
        const session = await this.take(params, client)
        for (const update of replay(session.agent)) session.send(update)
        await session.sent()
        return this.stateOf(session)
      })
      .onRequest('session/resume', async ({ params, client }) => this.stateOf(await this.take(params, client)))
      .onRequest('session/close', async ({ params: { sessionId } }) => {
        const session = this.session(sessionId)
        this.sessions.delete(sessionId)
        await session.close()
        return {}
      })
      .onRequest('session/set_config_option', ({ params }) => this.setOption(params.sessionId, params.configId, params.value))
      .onRequest('session/set_mode', async ({ params: { sessionId, modeId } }) => {
        const session = this.session(sessionId)
        session.useMode(modeId)
        session.send({ sessionUpdate: 'config_option_update', configOptions: (await this.stateOf(session)).configOptions })
        return {}
      })
      .onRequest('session/prompt', ({ params, signal }) => this.session(params.sessionId).prompt(params.prompt, signal))
      .onNotification('session/cancel', ({ params }) => { this.sessions.get(params.sessionId)?.cancel() })
      .connect(stream)
  }

  /** End every session: their turns, their children. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.sessions.values()].map(session => session.close()))
    this.sessions.clear()
  }

  private initialize(asked: number): InitializeResponse {
    // Behind the answer: loading takes the whole thread. Whoever asks for a session is told what went wrong.
    setImmediate(() => { setImmediate(() => { this.host().catch(() => {}) }) })
    return {
      protocolVersion: Math.min(asked, 1) || 1,
      agentInfo: { name: 'offshoot', title: 'Offshoot', version: this.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false, embeddedContext: true },
        mcpCapabilities: { http: false, sse: false },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      authMethods: [],
    }
  }

  private async open({ cwd, mcpServers, _meta }: { readonly cwd: string, readonly mcpServers?: readonly unknown[], readonly _meta?: unknown }, client: AgentContext): Promise<NewSessionResponse> {
    checkPlace(cwd, mcpServers)
    const { ctx } = await this.app()
    const lineage = lineageOf(_meta)
    const options = { cwd, ...(lineage ? { lineage } : {}) }
    const session = new LiveSession(ctx, client, create(() => ctx.agents.create(options)), options)
    this.sessions.set(session.id, session)
    return { sessionId: session.id, ...await this.stateOf(session) }
  }

  /** A session of this process, or one that was kept. */
  private async take({ sessionId, cwd, mcpServers }: { readonly sessionId: string, readonly cwd: string, readonly mcpServers?: readonly unknown[] | null }, client: AgentContext): Promise<LiveSession> {
    checkPlace(cwd, mcpServers ?? [])
    const live = this.sessions.get(sessionId)
    if (live) return live
    const { ctx } = await this.app()
    const kept = ctx.sessions.load(sessionId)
    if (!kept) throw unknownSession(sessionId)
    const session = new LiveSession(ctx, client, create(() => ctx.agents.create({ cwd, session: kept })), { cwd })
    this.sessions.set(sessionId, session)
    return session
  }

  private async list(folder?: string | null) {
    const { ctx } = await this.app()
    const live = [...this.sessions.values()].map(session => ({ sessionId: session.id, cwd: session.agent.cwd, title: session.title ?? null, updatedAt: new Date(session.updatedAt).toISOString() }))
    const kept = ctx.sessions.list().filter(({ id }) => !this.sessions.has(id))
      .map(({ id, cwd, title, updatedAt }) => ({ sessionId: id, cwd, title: title ?? null, updatedAt: new Date(updatedAt).toISOString() }))
    const all = [...live, ...kept].filter(({ cwd }) => folder === undefined || folder === null || cwd === folder)
    return { sessions: all.sort((a, b) => a.updatedAt < b.updatedAt ? 1 : -1) }
  }

  /** What a client may choose, and has chosen. */
  private async stateOf({ agent, mode }: LiveSession): Promise<{ configOptions: SessionConfigOption[], modes?: SessionModeState }> {
    const { ctx } = await this.app()
    const models: SessionConfigOption = {
      type: 'select', id: modelOption, name: 'Model', category: 'model', currentValue: agent.modelName,
      options: ctx.models.list().map(name => ({ value: name, name: `${name} (${ctx.models.get(name).modelId})` })),
    }
    // Without approvals nobody is asked, whatever the mode.
    return ctx.get('approvals') ? { configOptions: [modeConfigOption(mode), models], modes: modeState(mode) } : { configOptions: [models] }
  }

  private async setOption(sessionId: string, configId: string, value: unknown) {
    const session = this.session(sessionId)
    if (configId === modelOption && typeof value === 'string') await session.useModel(value)
    else if (configId === modeOption && typeof value === 'string') {
      session.useMode(value)
      session.send({ sessionUpdate: 'current_mode_update', currentModeId: value })
    } else throw RequestError.invalidParams(undefined, `there is no option "${configId}" with the value ${JSON.stringify(value)} (options: ${modeOption}, ${modelOption})`)
    const { configOptions } = await this.stateOf(session)
    return { configOptions }
  }

  private session(id: string): LiveSession {
    const session = this.sessions.get(id)
    if (!session) throw unknownSession(id)
    return session
  }

  private async app(): Promise<AcpHost> {
    try {
      return await this.host()
    } catch (error) {
      throw RequestError.internalError(undefined, error instanceof Error ? error.message : String(error))
    }
  }
}

function create<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw RequestError.internalError(undefined, error instanceof Error ? error.message : String(error))
  }
}

function checkPlace(cwd: string, mcpServers: readonly unknown[] = []): void {
  if (!isAbsolute(cwd)) throw RequestError.invalidParams(undefined, `cwd must be absolute, not "${cwd}"`)
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw RequestError.invalidParams(undefined, `cwd "${cwd}" is no folder`)
  if (mcpServers.length > 0) throw RequestError.invalidParams(undefined, 'MCP servers are not supported; leave mcpServers empty')
}

function unknownSession(id: string): RequestError {
  return RequestError.resourceNotFound(id)
}

/** Where a host stands that is itself Offshoot: in its `_meta`, else in the environment. */
function lineageOf(meta: unknown): Lineage | undefined {
  const own = typeof meta === 'object' && meta !== null && 'offshoot' in meta ? meta.offshoot : undefined
  if (typeof own !== 'object' || own === null || !('depth' in own) || !Number.isInteger(own.depth)) return undefined
  const maxDepth = 'maxDepth' in own && Number.isInteger(own.maxDepth) ? own.maxDepth as number : undefined
  return { depth: own.depth as number, maxDepth }
}
