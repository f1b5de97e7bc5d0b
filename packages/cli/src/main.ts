import { suggest } from '@offshoot/problems'
import { cac } from 'cac'
import { readFileSync } from 'node:fs'
import { check } from './check.ts'
import { init } from './init.ts'
import { exit, type Io, UsageError } from './io.ts'
import { run } from './run.ts'

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
  cli.command('run [...task]', 'Run a task with the app\'s agent: the answer on stdout, progress on stderr')
    .option('-c, --config <file>', 'The app\'s config file', { default: 'cordis.yml' })
    .option('--cwd <dir>', 'Working directory of the agent (default: this one)')
    .option('--json', 'One JSON event a line on stdout instead')
    .option('--quiet', 'No progress; only failures on stderr')
    .example('  offshoot run "What does this project do?"')
    .example('  git diff | offshoot run')
    .action((task: string[], options: Options) => run({ task, ...options }, io))
  cli.command('check', 'Load the app, say what is wrong with its config, and end')
    .option('-c, --config <file>', 'The app\'s config file', { default: 'cordis.yml' })
    .action((options: Options) => check(options, io))
  cli.command('init [dir]', 'Write a cordis.yml that runs as it stands')
    .option('--force', 'Replace one that is there')
    .action((dir: string | undefined, { force }: Options) => init({ dir, force }, io))

  // cac prints help and version on the console; here every word goes through `io`.
  cli.help(sections => [
    ...sections,
    { title: 'Exit codes', body: '  0  completed\n  1  not completed\n  2  bad config or usage\n  130, 143  interrupted, terminated' },
  ])
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
  throw new UsageError(`offshoot: unknown command "${word}"${suggest(word, cli.commands.map(command => command.name), 'commands')}`)
}

interface Options {
  config: string
  cwd?: string
  json?: boolean
  quiet?: boolean
  force?: boolean
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
