import type { Agent } from '@offshoot/agent'
import type { App } from '@offshoot/loader'
import { answerOf, onEarlierAnswer, reportFailure } from './answer.ts'
import { closeApp, createAgent, openApp, workingDirectory } from './app.ts'
import { endsInTime } from './ending.ts'
import { ChatCommands, commandOf } from './chat-commands.ts'
import { Conversation } from './conversation.ts'
import { type CutTask, cutTree, reportCut, reportUntold, reportWaiting, unreadTasks } from './cut.ts'
import { followConfig } from './follow-config.ts'
import { Interrupts } from './interrupts.ts'
import { exit, type Io } from './io.ts'
import { ProgressLines } from './progress-lines.ts'
import { Questions } from './questions.ts'
import { RunLog } from './run-log.ts'
import { Terminal } from './terminal.ts'

export interface ChatOptions {
  config: string
  cwd?: string
  quiet?: boolean
  watch?: boolean
}

/** `offshoot chat`: a conversation with the app's agent, one turn a line, until the lines end and nothing runs any more. */
export async function chat(options: ChatOptions, io: Io): Promise<number> {
  const cwd = workingDirectory('chat', options.cwd)
  const terminal = new Terminal(io)
  const app = await openApp(String(options.config), terminal)
  const interrupts = new Interrupts(io, terminal.stderr)
  let code: number = exit.badUsage
  try {
    const agent = createAgent(app, options.config, { cwd })
    if (options.watch) followConfig(app, terminal.stderr, interrupts.signal, () => { endWithAgent(agent, terminal) })
    await converse(app, agent, terminal, interrupts, options.quiet === true)
    code = interrupts.exitCode ?? (agent.state === 'disposed' ? exit.notCompleted : exit.completed)
    return code
  } finally {
    terminal.close()
    await closeApp(app, code, io)
    interrupts.close()
  }
}

async function converse(app: App, agent: Agent, terminal: Terminal, interrupts: Interrupts, quiet: boolean): Promise<void> {
  const { signal } = interrupts
  const { stdout, stderr } = terminal
  const log = new RunLog(app.ctx, agent)
  const progress = quiet ? undefined : new ProgressLines(app.ctx, agent, log, stderr)
  const approvals = app.ctx.get('approvals')?.core
  const questions = approvals && terminal.isInteractive ? new Questions({ approvals, root: agent, log, stderr, listen: prompt => terminal.ask(prompt) }) : undefined
  const commands = new ChatCommands({ app, log, stdout, stderr, approvals: () => questions?.list() ?? 'nobody is asked here\n' })
  const conversation = new Conversation(agent, signal, {
    turnEnded: result => {
      if (result.stopReason !== 'aborted') forgetFirst()
      progress?.flush()
      if (result.stopReason === 'completed') stdout.write(answerOf(result))
      else if (!signal.aborted) reportFailure(result, !quiet, stderr)
    },
    failed: error => { stderr.write(`offshoot: ${error instanceof Error ? error.message : String(error)}\n`) },
    waiting: () => { if (!quiet) reportWaiting(app, agent, stderr) },
  })
  onEarlierAnswer(agent, text => { stdout.write(text) })
  const forgetFirst = softenFirst(app, agent, terminal, interrupts)
  let cut: CutTask[] = []
  signal.addEventListener('abort', () => {
    questions?.close()
    terminal.close()
    cut = cutTree(app, agent, signal.reason)
  })
  if (terminal.isInteractive && !quiet) stderr.write('Each line is a turn. /help lists the commands; Ctrl-D ends the chat.\n')
  if (!signal.aborted) {
    terminal.open({
      line: line => {
        forgetFirst()
        if (line.trim() === '' && !questions?.isOpen) return
        const command = commandOf(line)
        if (command?.name === '/quit') terminal.close()
        else if (!command && questions?.isOpen) questions.answer(line)
        else if (!command) conversation.ask(() => agent.run(line))
        // A person means now, whatever runs. Of lines in a pipe, each waits for those before it.
        else if (terminal.isInteractive) void commands.carryOut(command)
        else conversation.ask(() => commands.carryOut(command))
      },
      end: () => {
        questions?.close()
        conversation.end()
      },
      interrupt: interrupts.interrupt,
    })
  }
  await conversation.run()
  questions?.close()
  if (signal.aborted) await endsInTime(agent.dispose())
  progress?.flush()
  if (signal.aborted) reportCut(cut, stderr)
  else reportUntold(unreadTasks(app, agent), stderr)
}

/** An edit that restarts what the agent runs on is the end of the agent. */
function endWithAgent(agent: Agent, terminal: Terminal): void {
  if (agent.state !== 'disposed') return
  terminal.stderr.write('offshoot: the agent went with what it ran on; the chat ends\n')
  terminal.close()
}

/** The first Ctrl-C ends the turn alone. The returned function makes the next one the first again. */
function softenFirst(app: App, agent: Agent, { stderr }: Terminal, interrupts: Interrupts): () => void {
  let pressed = false
  interrupts.soften = () => {
    if (pressed) return false
    pressed = true
    const goesOn = unreadTasks(app, agent).every(({ outcome }) => outcome) ? '' : '; what runs in the background goes on'
    stderr.write(`offshoot: ${agent.state === 'running' ? 'ending the turn' : 'no turn runs'}${goesOn} (again: end everything)\n`)
    // An abort would keep an idle agent from being told of its background work.
    if (agent.state === 'running') agent.abort(new Error('interrupted'))
    return true
  }
  return () => { pressed = false }
}
