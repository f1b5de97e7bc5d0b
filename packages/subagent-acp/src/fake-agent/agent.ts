import { setTimeout as pause } from 'node:timers/promises'
import { Faults, Refusal } from './faults.ts'
import type { FakeAgentOptions } from './flags.ts'
import type { Journal } from './journal.ts'
import { methods, type Phase } from './phases.ts'
import { SessionSettings } from './session-settings.ts'
import { Turn } from './turn.ts'
import type { Incoming, Wire } from './wire.ts'

type Params = Readonly<Record<string, unknown>>

interface FakeSession {
  readonly id: string
  readonly params: Params
  readonly settings: SessionSettings
  turn: Turn | undefined
}

/** The agent's side of the protocol. */
export class FakeAgent {
  private readonly options: FakeAgentOptions
  private readonly wire: Wire
  private readonly journal: Journal
  private readonly faults: Faults
  private readonly sessions = new Map<unknown, FakeSession>()
  private initializeParams: Params = {}
  private authenticated = false

  /** How each phase is answered, once nothing went wrong in it. */
  private readonly answers: { readonly [P in Phase]: (params: Params) => object | Promise<object> } = {
    'initialize': params => this.initialize(params),
    'authenticate': params => this.authenticate(params),
    'session/new': params => this.newSession(params),
    'set-mode': params => this.session(params).settings.setMode(params),
    'set-config': params => this.session(params).settings.setConfigOption(params),
    'prompt': params => this.prompt(params),
    'close': params => this.close(params),
  }

  constructor(options: FakeAgentOptions, wire: Wire, journal: Journal) {
    this.options = options
    this.wire = wire
    this.journal = journal
    this.faults = new Faults(options, journal)
  }

  receive({ id, method = '', params = {} }: Incoming): void {
    if (method === 'session/cancel') {
      this.journal.write('cancel')
      this.sessions.get(params['sessionId'])?.turn?.cancel()
    } else if (id !== undefined) {
      void this.answer(id, method, params)
    } else {
      this.journal.write('notification', { method, params })
    }
  }

  private async answer(id: Incoming['id'], method: string, params: Params): Promise<void> {
    const phase = (Object.keys(methods) as Phase[]).find(each => methods[each] === method)
    try {
      if (!phase) throw new Refusal(-32601, `"Method not found": ${method}`)
      this.journal.write(phase, params)
      await this.faults.reach(phase)
      this.wire.reply(id, { result: await this.answers[phase](params) }, phase)
    } catch (error) {
      const { message } = error as Error
      this.wire.reply(id, { error: { code: error instanceof Refusal ? error.code : -32603, message } }, phase)
    }
    this.wire.uncork()
    if (phase === 'prompt') await this.afterPrompt(params)
  }

  private initialize(params: Params): object {
    this.initializeParams = params
    const { capabilities = [], auth = [], protocolVersion = 1 } = this.options
    return {
      ...!this.options.omit?.includes('protocolVersion') && { protocolVersion },
      agentInfo: { name: 'fake-agent', version: '1.0.0' },
      agentCapabilities: {
        loadSession: capabilities.includes('load'),
        promptCapabilities: {
          image: capabilities.includes('image'),
          audio: capabilities.includes('audio'),
          embeddedContext: capabilities.includes('embedded-context'),
        },
        sessionCapabilities: capabilities.includes('close') ? { close: {} } : {},
      },
      authMethods: auth.map(each => ({ id: each, name: each })),
    }
  }

  private authenticate({ methodId }: Params): object {
    const { auth = [] } = this.options
    if (!auth.includes(methodId as string)) throw new Refusal(-32602, `no authentication method ${JSON.stringify(methodId)}`)
    this.authenticated = true
    return {}
  }

  private newSession(params: Params): object {
    if (this.options.requiresAuth && !this.authenticated) throw new Refusal(-32000, 'Authentication required')
    if (typeof params['cwd'] !== 'string' || !Array.isArray(params['mcpServers'])) throw new Refusal(-32602, 'session/new needs cwd and mcpServers')
    const session: FakeSession = { id: `session-${this.sessions.size + 1}`, params, settings: new SessionSettings(this.options), turn: undefined }
    this.sessions.set(session.id, session)
    return { ...!this.options.omit?.includes('sessionId') && { sessionId: session.id }, ...session.settings.announced() }
  }

  private async prompt(params: Params): Promise<object> {
    const { options, wire, journal, faults } = this
    const session = this.session(params)
    if (session.turn) throw new Refusal(-32600, 'a prompt is running in this session')
    session.turn = new Turn({ sessionId: session.id, options, wire, journal, faults, initialize: this.initializeParams, session: session.params, prompt: params })
    try {
      return await session.turn.run()
    } finally {
      session.turn = undefined
    }
  }

  private async afterPrompt({ sessionId }: Params): Promise<void> {
    const { lateUpdate } = this.options
    this.journal.write('prompt-answered')
    await this.faults.reach('after-prompt')
    if (lateUpdate === undefined) return
    await pause(lateUpdate)
    const content = { type: 'text', text: 'late' }
    this.wire.notify('session/update', { sessionId, update: { sessionUpdate: 'agent_message_chunk', content } })
    this.journal.write('late')
  }

  private close(params: Params): object {
    if (!this.options.capabilities?.includes('close')) throw new Refusal(-32601, '"Method not found": session/close')
    const session = this.session(params)
    session.turn?.cancel()
    this.sessions.delete(session.id)
    return {}
  }

  private session({ sessionId }: Params): FakeSession {
    const session = this.sessions.get(sessionId)
    if (!session) throw new Refusal(-32002, `no session ${JSON.stringify(sessionId)}`)
    return session
  }
}
