import type { McpCapabilities, McpServer as WireServer } from '@agentclientprotocol/sdk/unstable'
import type { AcpAgent } from './agent.ts'
import type { McpServer } from './config.ts'

/** @throws {Error} naming the entry that is no server, and what one looks like. */
export function checkServers(servers: readonly unknown[]): void {
  servers.forEach((server, i) => {
    const problem = problemOf(server)
    if (problem !== undefined) {
      throw new Error(`mcpServers[${i}] ${problem}; a server is {name, command, args?, env?} or {name, type: http | sse, url, headers?}`)
    }
  })
}

/** The servers as the wire has them. @throws {AcpError} `UNSUPPORTED` for a transport that the agent does not have. */
export function wireServers(agent: AcpAgent, servers: readonly McpServer[], can: McpCapabilities | undefined): WireServer[] {
  return servers.map((server): WireServer => {
    if ('command' in server) return { name: server.name, command: server.command, args: server.args ?? [], env: pairs(server.env) }
    const { name, type, url, headers } = server
    if (!can?.[type]) throw agent.failure('UNSUPPORTED', `the agent takes no MCP servers over ${type} ("${name}")`)
    return { name, type, url, headers: pairs(headers) }
  })
}

/** What the servers hold in confidence, or may. */
export function serverValues(servers: readonly McpServer[]): string[] {
  return servers.flatMap(server => Object.values(('command' in server ? server.env : server.headers) ?? {}))
}

function pairs(values: Readonly<Record<string, string>> = {}): { name: string, value: string }[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }))
}

function problemOf(server: unknown): string | undefined {
  if (typeof server !== 'object' || server === null) return 'is no object'
  const { name, command, args, env, type, url, headers } = server as Record<string, unknown>
  if (typeof name !== 'string' || name === '') return 'has no name'
  if (command === undefined) {
    if (type !== 'http' && type !== 'sse') return `("${name}") has neither a command nor the type http or sse`
    if (typeof url !== 'string' || !URL.canParse(url)) return `("${name}") has no url`
    return isTexts(headers) ? undefined : `("${name}") has headers that are no texts`
  }
  if (typeof command !== 'string' || command === '') return `("${name}") has a command that is no text`
  if (args !== undefined && !(Array.isArray(args) && args.every(arg => typeof arg === 'string'))) return `("${name}") has args that are no texts`
  return isTexts(env) ? undefined : `("${name}") has an env whose values are no texts`
}

function isTexts(values: unknown): boolean {
  return values === undefined || typeof values === 'object' && values !== null && Object.values(values).every(value => typeof value === 'string')
}
