import type {} from '@offshoot/approvals'
import type {} from '@offshoot/subagent'
import type { Context } from 'cordis'
import { isAbsolute } from 'node:path'
import type { Config } from './config.ts'
import { defaultRecordsDir, LaunchRecords } from './launch-records.ts'
import { LiveProcesses } from './live-processes.ts'
import { checkServers } from './mcp-servers.ts'
import { AcpProvider } from './provider.ts'

export { Config, type Input, type McpServer, type PermissionRule, type PermissionTable, type Timeouts, type ToolKind } from './config.ts'
export { AcpError, type AcpErrorCode, type AcpPhase } from './error.ts'

export const name = 'subagent-acp'
export const inject = ['subagents']

export function apply(ctx: Context, config: Config): void {
  checkConfig(config)
  const { logger } = ctx
  const records = openRecords(error => { logger.warn(error) })
  records?.reapOrphans().then(
    orphans => { for (const { command, pid } of orphans) logger.warn(`ended "${command}" (process ${pid}), which a host that is gone had left behind`) },
    (error: unknown) => { logger.warn(error) },
  )
  ctx.subagents.registerProvider(new AcpProvider(config, {
    live: new LiveProcesses(records),
    approvals: () => ctx.get('approvals'),
    log: { info: text => { logger.info(text) }, warn: text => { logger.warn(text) } },
  }))
}

/** @throws {Error} for what no schema can say. */
function checkConfig({ command, cwd, mcpServers }: Config): void {
  if (command.trim() === '') throw new Error('command must name a program')
  if (command.includes('/') && !isAbsolute(command)) throw new Error(`command must be a name on the PATH or an absolute path, not "${command}"; arguments go into "args"`)
  if (/\s/.test(command) && !isAbsolute(command)) throw new Error(`command is one program, not a command line ("${command}"); put what follows it into "args"`)
  if (cwd !== undefined && !isAbsolute(cwd)) throw new Error(`cwd must be absolute, not "${cwd}"; leave it out for the parent's`)
  checkServers(mcpServers)
}

/** Without them, what a crash leaves behind stays: that is said, and no reason not to start. */
function openRecords(report: (error: unknown) => void): LaunchRecords | undefined {
  try {
    return new LaunchRecords(defaultRecordsDir())
  } catch (error) {
    report(error)
    return undefined
  }
}
