import type {} from '@offshoot/agent'
import { CappedOutput, defineTool, type SpillStore, type Tool, Type } from '@offshoot/tools'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { CommandEnd } from './command.ts'
import type { Commands } from './commands.ts'
import { environment, type EnvironmentOptions } from './environment.ts'
import { ShellError } from './error.ts'

const namedProcesses = 5
const nameCharacters = 80

/** What a result holds beside the output, at most: the sentence on what was cut, and the lines that `render` adds. */
export const noteBytes = 2000

export interface ShellOptions extends EnvironmentOptions {
  /** The shell's absolute path. */
  readonly shell: string
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
  readonly graceMs: number
  readonly maxOutputBytes: number
}

export function shellTool(options: ShellOptions, commands: Commands, spills: SpillStore): Tool {
  const { shell, timeoutMs, graceMs, maxOutputBytes } = options
  return defineTool({
    name: 'shell',
    description: `Run a command with ${basename(shell)} in the working directory. Answers what it writes to stdout and stderr, and its exit code unless that is 0.`
      + ' It has no input and no terminal. What it leaves running in the background is ended when it ends.',
    parameters: Type.Object({
      command: Type.String({ minLength: 1, description: 'The command, as the shell reads it.' }),
      timeout_ms: Type.Optional(Type.Integer({
        minimum: 1, maximum: Math.max(timeoutMs, options.maxTimeoutMs), description: `After how long to end it. Default ${timeoutMs}.`,
      })),
    }),
    effect: 'execute',
    maxOutputBytes: maxOutputBytes + noteBytes,
    async execute({ command, timeout_ms: limitMs = timeoutMs }, exec) {
      const { agent } = exec
      if (agent === undefined) throw new ShellError('NO_AGENT', 'shell requires a calling agent (exec.agent was undefined)')
      const { cwd, tools } = agent
      if (command.includes('\0')) throw new ShellError('NOT_STARTED', 'a command cannot hold a NUL character')
      await checkFolder(cwd)
      const output = new CappedOutput(spills, maxOutputBytes)
      let text = ''
      const env = environment(process.env, options, cwd)
      const end = await commands.run({ command, shell, cwd, env, timeoutMs: limitMs, graceMs, signal: exec.signal }, output)
        .finally(() => { text = output.end(tools.readsSpills) })
      return render(text, end, limitMs)
    },
  })
}

async function checkFolder(cwd: string): Promise<void> {
  const stats = await stat(cwd).catch((error: Error) => {
    throw new ShellError('NO_WORKING_DIRECTORY', `the working directory "${cwd}" cannot be used: ${error.message}`, { cause: error })
  })
  if (!stats.isDirectory()) throw new ShellError('NO_WORKING_DIRECTORY', `the working directory "${cwd}" is not a folder`)
}

/** What the model reads: the output as it is, and a line for each thing that it does not say. */
function render(text: string, { exitCode, signal, timedOut, ended }: CommandEnd, limitMs: number): string {
  const notes: string[] = []
  if (timedOut) notes.push(`[timed out: ended after ${limitMs} ms]`)
  if (signal !== undefined) notes.push(`[ended by ${signal}]`)
  if (exitCode) notes.push(`[exit code ${exitCode}]`)
  if (ended.length > 0) notes.push(`[${ended.length} left running in the background, and ended: ${nameProcesses(ended)}]`)
  if (notes.length === 0) return text || '[no output]'
  return [...text === '' ? [] : [text.replace(/\n$/, '')], ...notes].join('\n')
}

function nameProcesses(commands: readonly string[]): string {
  const names = commands.slice(0, namedProcesses).map(command => command.length > nameCharacters ? `${command.slice(0, nameCharacters)}…` : command)
  return [...names, ...commands.length > namedProcesses ? [`${commands.length - namedProcesses} more`] : []].join('; ')
}
