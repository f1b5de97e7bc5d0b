import { cac } from 'cac'
import { readFileSync } from 'node:fs'
import { exit, type Io, UsageError } from './io.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

/** Run the command line `args` (without `node` and the script). Answers the exit code; nothing of it runs on. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(args, io)
  } catch (error) {
    if (error instanceof UsageError || error instanceof Error && error.name === 'CACError') {
      const lines = error.message.split('\n')
      io.stderr.write(lines.map(line => error instanceof UsageError ? `${line}\n` : `offshoot: ${line}; see offshoot --help\n`).join(''))
      return exit.badUsage
    }
    io.stderr.write(`offshoot: unexpected failure: ${error instanceof Error ? error.stack ?? error.message : String(error)}\n`)
    return exit.notCompleted
  }
}

async function dispatch(args: readonly string[], io: Io): Promise<number> {
  const cli = cac('offshoot')
  // What a command takes to run is read when it runs: usage and help need none of it.
  cli.command('run [...task]', 'Run a task with the app\'s agent: the answer on stdout, progress on stderr')
    .option('-c, --config <file>', 'The app\'s config file', { default: 'cordis.yml' })
    .option('--cwd <dir>', 'Working directory of the agent (default: this one)')
    .option('--drain <policy>', 'Background work when the turn has ended: wait (the agent reads it), or cancel', { default: 'wait' })
    .option('--json', 'One JSON event a line on stdout instead')
    .option('--quiet', 'No progress; only failures on stderr')
    .example('  offshoot run "What does this project do?"')
    .example('  git diff | offshoot run')
    .action(async (task: string[], options: Options) => (await import('./run.ts')).run({ task, ...options, drain: String(options.drain) }, io))
  cli.command('chat', 'Talk with the app\'s agent, one turn a line, on a terminal or over a pipe')
    .option('-c, --config <file>', 'The app\'s config file', { default: 'cordis.yml' })
    .option('--cwd <dir>', 'Working directory of the agent (default: this one)')
    .option('--quiet', 'No progress; only failures on stderr')
    .option('--watch', 'Take over edits of the config file')
    .example('  offshoot chat')
    .example('  printf \'What is here?\\nAnd in docs?\\n\' | offshoot chat')
    .action(async (options: Options) => (await import('./chat.ts')).chat(options, io))
  cli.command('start', 'Load the app and keep it running, for plugins that serve something')
    .option('-c, --config <file>', 'The app\'s config file', { default: 'cordis.yml' })
    .option('--watch', 'Take over edits of the config file')
    .action(async (options: Options) => (await import('./start.ts')).start(options, io))
  cli.command('acp', 'Serve the app\'s agent to an editor, or another client, over the Agent Client Protocol on stdio')
    .option('-c, --config <file>', 'The app\'s config file', { default: 'cordis.yml' })
    .action(async (options: Options) => (await import('./acp.ts')).acp(options, io, version))
  cli.command('check', 'Load the app, say what is wrong with its config, and end')
    .option('-c, --config <file>', 'The app\'s config file', { default: 'cordis.yml' })
    .action(async (options: Options) => (await import('./check.ts')).check(options, io))
  cli.command('doctor', 'Ask each model, and start each agent outside this process: what is wrong, and how to mend it')
    .option('-c, --config <file>', 'The app\'s config file', { default: 'cordis.yml' })
    .option('--cwd <dir>', 'Where agents are started (default: this folder)')
    .action(async (options: Options) => (await import('./doctor.ts')).doctor(options, io))
  cli.command('init [dir]', 'Write a cordis.yml that runs as it stands')
    .option('--force', 'Replace one that is there')
    .action(async (dir: string | undefined, { force }: Options) => (await import('./init.ts')).init({ dir, force }, io))

  // cac prints help and version on the console; here every word goes through `io`.
  // Loaded where somebody asks: a command that serves waits for none of it.
  const { helpSections } = args.some(arg => arg === '--help' || arg === '-h') || args.length === 0 ? await import('./help.ts') : { helpSections: () => [] }
  cli.help(sections => [...sections, ...helpSections(cli.matchedCommand?.name)])
  cli.version(version)
  const { options } = captured(io, () => cli.parse(['node', 'offshoot', ...args], { run: false }))
  if (options.help || options.version) return exit.completed
  if (cli.matchedCommand) return await cli.runMatchedCommand() as number
  const [word] = args.filter(arg => !arg.startsWith('-'))
  if (word === undefined && args.length > 0) throw new UsageError(`offshoot: unknown option "${args[0]}"; see offshoot --help`)
  if (word === undefined) {
    captured(io, () => { cli.outputHelp() })
    return exit.badUsage
  }
  const { suggest } = await import('@offshoot/problems')
  throw new UsageError(`offshoot: unknown command "${word}"${suggest(word, cli.commands.map(command => command.name), 'commands')}`)
}

interface Options {
  config: string
  drain: string
  cwd?: string
  json?: boolean
  quiet?: boolean
  force?: boolean
  watch?: boolean
}

/** What `act` prints on the console goes to stdout of `io`. */
function captured<T>(io: Io, act: () => T): T {
  const { info, log } = console
  console.info = console.log = (...lines: unknown[]) => { io.stdout.write(`${lines.join(' ')}\n`) }
  try {
    return act()
  } finally {
    Object.assign(console, { info, log })
  }
}
