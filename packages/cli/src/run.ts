import type { Agent } from '@offshoot/agent'
import type { App } from '@offshoot/loader'
import { text as readAll } from 'node:stream/consumers'
import { AnswerLines } from './answer-lines.ts'
import { answerOf, reportFailure } from './answer.ts'
import { closeApp, createAgent, openApp, workingDirectory } from './app.ts'
import { endsInTime } from './ending.ts'
import { type CutTask, cutTree, reportCut, reportUncollected, reportWaiting } from './cut.ts'
import { Interrupts } from './interrupts.ts'
import { exit, type Io, UsageError, type Writer } from './io.ts'
import { JsonLines } from './json-lines.ts'
import { LiveScreen } from './live-screen.ts'
import { showLiveTree } from './live-tree.ts'
import { ProgressLines } from './progress-lines.ts'
import { Questions } from './questions.ts'
import { RunLog } from './run-log.ts'
import { renderTree } from './tree.ts'
import { usageLine } from './usage-text.ts'
import { duration } from './wording.ts'

export interface RunOptions {
  task: readonly string[]
  config: string
  /** `wait` or `cancel`. */
  drain: string
  cwd?: string
  json?: boolean
  quiet?: boolean
  '--'?: readonly string[]
}

/** `offshoot run`: one task of the app's agent, with everything it starts. */
export async function run(options: RunOptions, io: Io): Promise<number> {
  const drain = drainPolicy(options.drain)
  const task = await readTask(options, io)
  const cwd = workingDirectory('run', options.cwd)
  const screen = showsLive(options, io) ? new LiveScreen(io.stderr) : undefined
  const stderr = screen ?? io.stderr
  const app = await openApp(String(options.config), { stderr })
  const interrupts = new Interrupts(io, stderr)
  let code: number = exit.badUsage
  try {
    const agent = createAgent(app, options.config, { cwd })
    const ended = await runTask(app, agent, task, drain, interrupts, options, { io, stdout: io.stdout, stderr, screen })
    code = interrupts.exitCode ?? (ended ? exit.completed : exit.notCompleted)
    return code
  } finally {
    screen?.close()
    await closeApp(app, code, io)
    interrupts.close()
  }
}

/** Answers whether the task was completed, and nothing cut. */
async function runTask(app: App, agent: Agent, task: string, drain: DrainPolicy, interrupts: Interrupts, { json, quiet }: RunOptions, { io, stdout, stderr, screen }: Output): Promise<boolean> {
  const { signal } = interrupts
  const startedAt = Date.now()
  const log = new RunLog(app.ctx, agent)
  const lines = json ? new JsonLines(app.ctx, agent, log, stdout) : undefined
  const progress = json || quiet ? undefined : new ProgressLines(app.ctx, agent, log, stderr)
  if (screen) showLiveTree(screen, app.ctx, log, startedAt)
  const questions = json ? undefined : askOn(io, app, log, stderr, screen)
  let cut: CutTask[] = []
  signal.addEventListener('abort', () => {
    questions?.close()
    cut = cutTree(app, agent, signal.reason)
  })
  agent.on(event => {
    if (!progress || drain !== 'wait' || event.type !== 'turn-end' || event.result.stopReason !== 'completed') return
    progress.flush()
    reportWaiting(app, agent, stderr)
  })
  const result = drain === 'wait' ? await agent.runToQuiet(task, { signal }) : await agent.run(task, { signal })
  // Before anything else is awaited: what is left must not wake the agent.
  const isCut = agent.isBusy || signal.aborted
  if (isCut && !signal.aborted) cut = cutTree(app, agent, new Error('the run is over'))
  if (isCut) await endsInTime(agent.dispose())
  questions?.close()
  progress?.flush()
  screen?.close()
  const completed = result.stopReason === 'completed'
  const usage = app.ctx.get('subagents')?.usage(agent) ?? { own: agent.usage, total: agent.usage }
  if (lines) lines.end(result, usage.total, cut)
  else if (completed) stdout.write(answerOf(result))
  if (progress && log.runs.length > 0) stderr.write(`\n${renderTree(log, result, usage.total, Date.now() - startedAt)}`)
  if (signal.aborted) stderr.write(`offshoot: interrupted after ${duration(Date.now() - startedAt)}\n`)
  else if (!completed) reportFailure(result, !json && !quiet, stderr)
  reportCut(cut, stderr)
  if (!isCut && !json) reportUncollected(app, agent, stderr)
  if (progress) stderr.write(usageLine(usage, log.size))
  return completed && !isCut
}

interface Output {
  readonly io: Io
  readonly stdout: Writer
  readonly stderr: Writer
  readonly screen: LiveScreen | undefined
}

/** Puts approvals before a person, where there is one to ask. */
function askOn(io: Io, app: App, log: RunLog, stderr: Writer, screen: LiveScreen | undefined): Questions | undefined {
  const approvals = app.ctx.get('approvals')?.core
  if (!approvals || !AnswerLines.canAsk(io)) return undefined
  const lines = new AnswerLines(io, screen, line => { questions.answer(line) }, () => { questions.close() })
  const questions = new Questions({ approvals, root: log.root, log, stderr, listen: prompt => lines.listen(prompt) })
  return questions
}

/** A terminal that can take lines away again, and a person who looks at it. */
function showsLive({ json, quiet }: RunOptions, { stderr }: Io): boolean {
  return stderr.isTTY === true && !json && !quiet && process.env.TERM !== 'dumb' && !process.env.CI
}

type DrainPolicy = 'wait' | 'cancel'

function drainPolicy(text: string): DrainPolicy {
  if (text === 'wait' || text === 'cancel') return text
  throw new UsageError(`offshoot run: --drain is "wait" or "cancel", not "${text}"`)
}

async function readTask({ task, '--': rest = [] }: RunOptions, io: Io): Promise<string> {
  const words = [...task, ...rest].join(' ').trim()
  if (words !== '' && words !== '-') return words
  if (io.stdin.isTTY) throw new UsageError('offshoot run: no task; give it in quotes (offshoot run "…"), or pipe it in')
  const piped = (await readAll(io.stdin)).trim()
  if (piped === '') throw new UsageError('offshoot run: no task; nothing was given and standard input is empty')
  return piped
}
