import { lineageVariables } from '@offshoot/agent'
import type { ApprovalService } from '@offshoot/approvals'
import type { ProviderRun, ProviderStartRequest, SubagentProvider } from '@offshoot/subagent'
import { stat } from 'node:fs/promises'
import { AcpAgent } from './agent.ts'
import { Collector } from './collector.ts'
import type { Config } from './config.ts'
import { Redaction } from './diagnosis.ts'
import { environment } from './environment.ts'
import { AcpError } from './error.ts'
import { markVariable, newMark } from './family.ts'
import { type AcpSession, openSession } from './handshake.ts'
import type { LiveProcesses } from './live-processes.ts'
import { serverValues } from './mcp-servers.ts'
import { Permissions } from './permissions.ts'
import { AcpRun } from './run.ts'

export interface AcpProviderOptions {
  readonly live: LiveProcesses
  /** Asks people; answers `undefined` where the app has nobody to ask through. */
  readonly approvals: () => Pick<ApprovalService, 'ask'> | undefined
  readonly log: { info(text: string): void, warn(text: string): void }
}

/** What one start makes, before it is a run. */
interface Opened {
  readonly agent: AcpAgent
  readonly session: AcpSession
  readonly collector: Collector
  readonly permissions: Permissions
}

/** For a handshake that nobody's depth bounds. */
const checkGraceMs = 10_000

/** Children that are agents outside this process: one process for each, which speaks the Agent Client Protocol. */
export class AcpProvider implements SubagentProvider {
  readonly name: string
  readonly capabilities: SubagentProvider['capabilities']
  readonly inheritsParentContext = false
  private readonly config: Config
  private readonly options: AcpProviderOptions

  constructor(config: Config, options: AcpProviderOptions) {
    this.name = config.name
    this.config = config
    this.options = options
    this.capabilities = { outputSchema: false, depthLimit: config.depthLimit, toolFilter: false, persona: false }
  }

  async start(request: ProviderStartRequest): Promise<ProviderRun> {
    const { agentOptions = {}, prompt, signal, disposeGraceMs } = request
    for (const key of ['maxSteps', 'maxOutputTokens'] as const) {
      if (agentOptions[key] !== undefined) throw new AcpError('UNSUPPORTED', 'spawn', `an agent outside this process cannot be held to ${key}; leave agentOptions.${key} out`)
    }
    const opened = await this.open(request, request.cwd ?? this.config.cwd ?? request.parent.cwd)
    return new AcpRun({ ...opened, prompt, signal, disposeGraceMs })
  }

  async check({ signal, cwd }: { readonly signal: AbortSignal, readonly cwd: string }): Promise<string> {
    const startedAt = performance.now()
    const { agent, session } = await this.open({ signal, depth: 1, maxDepth: 1, disposeGraceMs: checkGraceMs }, this.config.cwd ?? cwd)
    const tookMs = performance.now() - startedAt
    await agent.end(checkGraceMs)
    return `${session.agentName}, ready in ${(tookMs / 1000).toFixed(1)} s${session.model === undefined ? '' : `, on ${session.model}`}`
  }

  /** From nothing to a session. What was begun is ended before this rejects. */
  private async open(request: Pick<ProviderStartRequest, 'signal' | 'depth' | 'maxDepth' | 'disposeGraceMs'> & Partial<ProviderStartRequest>, cwd: string): Promise<Opened> {
    const { config, options: { live } } = this
    const { signal, depth, maxDepth, disposeGraceMs } = request
    await checkFolder(cwd)
    const mark = newMark()
    const run = { ...markVariable(mark), [lineageVariables.depth]: `${depth}`, [lineageVariables.maxDepth]: `${maxDepth}` }
    let session: AcpSession | undefined
    let collector: Collector | undefined
    const permissions = this.permissions(request, () => session?.id, id => collector?.calls.get(id))
    signal.throwIfAborted()
    const agent = await AcpAgent.start({
      config, cwd, mark, live,
      env: environment(process.env, config, run, cwd),
      redaction: new Redaction([...Object.values(config.env), ...config.inheritEnv.flatMap(key => process.env[key] ?? []), ...serverValues(config.mcpServers)]),
      handlers: {
        update: params => { collector?.add(params) },
        permission: (params, taken) => permissions.answer(params, taken),
      },
    })
    try {
      session = await openSession(agent, { cwd, depth, maxDepth, model: request.agentOptions?.model, signal })
      collector = new Collector(session.id, config.maxOutputBytes, session.model)
      return { agent, session, collector, permissions }
    } catch (error) {
      await agent.end(disposeGraceMs)
      throw error
    }
  }

  private permissions(request: Partial<ProviderStartRequest>, sessionId: () => string | undefined, seen: (id: string) => ReturnType<Collector['calls']['get']>): Permissions {
    const { name, config: { permission: rule }, options: { approvals, log } } = this
    const { parent, runId = 'check' } = request
    const asker = `${runId} ${name}`
    return new Permissions({
      rule, sessionId, seen,
      ask: ask => {
        const service = approvals()
        return parent && service?.ask({ agent: parent, asker, tool: `${name} ${ask.kind}`, effect: ask.effect, summary: ask.summary, signal: ask.signal })
      },
      decided: ({ kind, summary }, allowed, why) => {
        const text = `${asker}: ${kind} "${summary}" ${allowed ? 'allowed' : 'refused'}: ${why}`
        if (allowed) log.info(text)
        else log.warn(text)
      },
    })
  }
}

async function checkFolder(cwd: string): Promise<void> {
  const stats = await stat(cwd).catch((error: Error) => {
    throw new AcpError('NOT_STARTED', 'spawn', `the working directory "${cwd}" cannot be used: ${error.message}`, { cause: error })
  })
  if (!stats.isDirectory()) throw new AcpError('NOT_STARTED', 'spawn', `the working directory "${cwd}" is not a folder`)
}
