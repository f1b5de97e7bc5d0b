import type { Context } from 'cordis'
import z from 'schemastery'
import { Commands } from './commands.ts'
import { findShell } from './find-shell.ts'
import { noteBytes, shellTool } from './tool.ts'

export { ShellError, type ShellErrorCode } from './error.ts'

export const name = 'tool-shell'
export const inject = ['tools']

const maxTimerMs = 2 ** 31 - 1
const usualOutputBytes = 30_000

export interface Config {
  /** A name on the PATH, or an absolute path; default: bash where there is one, else sh. */
  shell?: string
  /** After how long a command is ended, unless the call says otherwise. */
  timeoutMs: number
  /** The most that a call may ask for. */
  maxTimeoutMs: number
  /** Between SIGTERM and SIGKILL. */
  graceMs: number
  /** How much of its output the model reads; the rest goes into a file. Default: 30,000, or what the app leaves room for. */
  maxOutputBytes?: number
  /** Variables passed on although their names look like secrets. */
  inheritEnv: string[]
  /** Variables set for every command. */
  env: Record<string, string>
}

export const Config: z<Partial<Config>, Config> = z.object({
  shell: z.string().description('A name on the PATH, or an absolute path; bash where there is one, else sh.'),
  timeoutMs: z.natural().min(1).max(maxTimerMs).default(120_000).description('After how long a command is ended, unless the call says otherwise.'),
  maxTimeoutMs: z.natural().min(1).max(maxTimerMs).default(600_000).description('The most that a call may ask for.'),
  graceMs: z.natural().max(maxTimerMs).default(2000).description('Between SIGTERM and SIGKILL.'),
  maxOutputBytes: z.natural().min(2).description('How much of the output the model reads; the rest goes into a file. Default 30000, or what the app leaves room for.'),
  inheritEnv: z.array(z.string()).default([]).description('Variables passed on although their names look like secrets.'),
  env: z.dict(z.string()).default({}).description('Variables set for every command.'),
})

export function apply(ctx: Context, config: Config): void {
  const { tools } = ctx
  const commands = new Commands()
  const kill = () => { commands.kill() }
  const shell = findShell(config.shell)
  ctx.effect(() => {
    process.on('exit', kill)
    return async () => {
      await commands.dispose()
      process.off('exit', kill)
    }
  }, 'commands')
  const { output, spills } = tools.core
  const maxOutputBytes = config.maxOutputBytes ?? Math.min(usualOutputBytes, output.maxBytes() - noteBytes)
  tools.register(shellTool({ ...config, shell, maxOutputBytes }, commands, spills))
}
