import type { App } from '@offshoot/loader'
import { suggest } from '@offshoot/problems'
import type { Writer } from './io.ts'
import { liveLines } from './live-lines.ts'
import { liveTree } from './live-tree.ts'
import type { RunLog } from './run-log.ts'
import { renderTasks } from './task-list.ts'

export interface ChatCommandsOptions {
  readonly app: App
  readonly log: RunLog
  readonly stdout: Writer
  readonly stderr: Writer
  /** What waits for an approval, one a line. */
  readonly approvals: () => string
}

const help = {
  '/tasks': ['/tasks', 'what runs in the background, and what ended last'],
  '/kill': ['/kill ID', 'end one background task'],
  '/tree': ['/tree', 'every agent that runs now'],
  '/approvals': ['/approvals', 'what waits for an approval'],
  '/help': ['/help', 'these commands'],
  '/quit': ['/quit', 'no more lines: end once what runs has ended'],
} as const

type CommandName = keyof typeof help

/** The lines of a chat that are for the command itself. */
export class ChatCommands {
  private readonly options: ChatCommandsOptions

  constructor(options: ChatCommandsOptions) {
    this.options = options
  }

  /** Carry out a command, as `commandOf()` takes it apart; `/quit` is the caller's. Does not reject. */
  async carryOut({ name, argument }: ChatCommand): Promise<void> {
    try {
      if (isKnown(name)) await this.run(name, argument)
      else throw new Error(`unknown command "${name}"${suggest(name, Object.keys(help), 'commands')}`)
    } catch (error) {
      this.options.stderr.write(`offshoot: ${error instanceof Error ? error.message : String(error)}\n`)
    }
  }

  private async run(name: CommandName, argument: string): Promise<void> {
    const { app, log, stdout } = this.options
    switch (name) {
      case '/tasks':
        stdout.write(renderTasks(app.ctx.get('tasks')?.list() ?? [], log))
        break
      case '/kill':
        stdout.write(`${await this.kill(argument)}\n`)
        break
      case '/tree':
        stdout.write(liveLines(liveTree(app.ctx, log), { columns: Infinity, rows: Infinity }).map(line => `${line}\n`).join(''))
        break
      case '/approvals':
        stdout.write(this.options.approvals())
        break
      case '/help':
        stdout.write(chatCommandsHelp())
        break
      case '/quit':
    }
  }

  private async kill(id: string): Promise<string> {
    const tasks = this.options.app.ctx.get('tasks')
    const known = tasks?.list() ?? []
    if (!tasks || known.length === 0) throw new Error('/kill: there are no background tasks')
    if (id === '') throw new Error(`/kill ID: which one? (tasks: ${known.map(task => task.id).join(', ')})`)
    const hadEnded = tasks.get(id)?.outcome !== undefined
    const { status } = await tasks.kill(id, 'the user ended it')
    return `${id} ${hadEnded ? `had ended already (${status})` : status}`
  }
}

/** The commands, one a line. */
export function chatCommandsHelp(): string {
  const entries = Object.values(help)
  const width = Math.max(...entries.map(([usage]) => usage.length))
  return entries.map(([usage, what]) => `${usage.padEnd(width)}  ${what}\n`).join('')
}

export interface ChatCommand {
  readonly name: string
  readonly argument: string
}

/** The command that `line` is, known or not: a slash and one word. `/etc/hosts is empty` is for the agent. */
export function commandOf(line: string): ChatCommand | undefined {
  const match = /^\/([a-z]*)(?:\s+(.*))?$/i.exec(line.trim())
  return match ? { name: `/${match[1]!.toLowerCase()}`, argument: match[2] ?? '' } : undefined
}

function isKnown(name: string): name is CommandName {
  return Object.hasOwn(help, name)
}
