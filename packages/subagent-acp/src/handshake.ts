import type { InitializeResponse, NewSessionResponse } from '@agentclientprotocol/sdk/unstable'
import type { AcpAgent } from './agent.ts'
import { wireServers } from './mcp-servers.ts'
import { applySettings, modelOf } from './settings.ts'

/** The only version of the protocol that is spoken here. */
const protocolVersion = 1

/** What our own agent calls itself: it keeps to the depth that it is told. */
const ownAgentName = 'offshoot'

export interface SessionRequest {
  readonly cwd: string
  readonly depth: number
  readonly maxDepth: number
  readonly model?: string | undefined
  readonly signal: AbortSignal
}

/** A session that is ready for its first prompt. */
export interface AcpSession {
  readonly id: string
  /** The model that it runs on, where the agent says. */
  readonly model: string | undefined
  readonly accepts: { readonly image: boolean, readonly embeddedContext: boolean }
  /** `codex-acp 2.6.0` */
  readonly agentName: string
}

/**
 * From a started program to a session with its mode and options set.
 *
 * @throws {AcpError} naming the phase; the agent is still to be ended then.
 */
export async function openSession(agent: AcpAgent, { cwd, depth, maxDepth, model, signal }: SessionRequest): Promise<AcpSession> {
  const { config: { timeouts, authMethod, mcpServers, depthLimit } } = agent
  const hello = await agent.call('initialize', 'initialize', {
    protocolVersion, clientInfo: { name: ownAgentName, title: 'Offshoot', version: '0.1.0' }, clientCapabilities: {},
  }, { timeoutMs: timeouts.initialize, signal }) as InitializeResponse | undefined
  if (hello?.protocolVersion !== protocolVersion) {
    throw agent.failure('PROTOCOL', `the agent speaks version ${shown(hello?.protocolVersion)} of the protocol, and version ${protocolVersion} is needed`)
  }
  const agentName = nameOf(hello)
  if (depthLimit && hello.agentInfo?.name !== ownAgentName) {
    throw agent.failure('UNSUPPORTED', `depthLimit is set, and the agent is ${agentName}, which keeps to none; leave depthLimit out`)
  }
  const servers = wireServers(agent, mcpServers, hello.agentCapabilities?.mcpCapabilities)
  if (authMethod !== undefined) {
    const methods = hello.authMethods?.map(({ id }) => id) ?? []
    if (!methods.includes(authMethod)) throw agent.failure('UNSUPPORTED', `the agent has no login method "${authMethod}" (it has: ${methods.join(', ') || 'none'})`)
    await agent.call('authenticate', 'authenticate', { methodId: authMethod }, { timeoutMs: timeouts.authenticate, signal })
  }
  const session = await newSession(agent, { cwd, mcpServers: servers, _meta: { offshoot: { depth, maxDepth } } }, hello, signal)
  const { sessionId: id } = session
  if (hello.agentCapabilities?.sessionCapabilities?.close) agent.closeSession = () => agent.connection.request('session/close', { sessionId: id })
  const configOptions = await applySettings(agent, session, model, signal)
  const { image = false, embeddedContext = false } = hello.agentCapabilities?.promptCapabilities ?? {}
  return { id, model: modelOf(configOptions), accepts: { image, embeddedContext }, agentName }
}

async function newSession(agent: AcpAgent, params: object, hello: InitializeResponse, signal: AbortSignal): Promise<NewSessionResponse> {
  const { timeouts } = agent.config
  try {
    const session = await agent.call('session/new', 'session/new', params, { timeoutMs: timeouts.session, signal }) as NewSessionResponse | undefined
    if (typeof session?.sessionId !== 'string' || session.sessionId === '') throw agent.failure('PROTOCOL', 'the agent made a session without an id')
    return session
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'AUTH_REQUIRED') throw error
    const methods = hello.authMethods?.map(({ id }) => id).join(', ')
    throw agent.failure('AUTH_REQUIRED', `the agent wants a login first: log in with its own command, pass it a key (env, inheritEnv)${methods ? `, or set authMethod to one of: ${methods}` : ''}`, error)
  }
}

function nameOf({ agentInfo }: InitializeResponse): string {
  return agentInfo ? [agentInfo.name, agentInfo.version].filter(Boolean).join(' ') : 'an agent without a name'
}

function shown(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value)
}
