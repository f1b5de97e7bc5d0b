import type { Agent, TurnResult } from '@offshoot/agent'
import type { App } from '@offshoot/loader'
import { textOf } from '@offshoot/session'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { closeApp, createAgent, openApp } from './app.ts'
import { Interrupts } from './interrupts.ts'
import { exit, type Io, UsageError } from './io.ts'
import { JsonLines } from './json-lines.ts'
import { ProgressLines } from './progress-lines.ts'
import { RunLog } from './run-log.ts'
import { duration, renderTree } from './tree.ts'

export interface RunOptions {
  task: readonly string[]
  config: string
  cwd?: string
  json?: boolean
  quiet?: boolean
  '--'?: readonly string[]
}

/** `offshoot run`: one turn of the app's agent. */
export async function run(options: RunOptions, io: Io): Promise<number> {
  const task = await readTask(options, io)
  const cwd = workingDirectory(options.cwd)
  const app = await openApp(String(options.config), io)
  const interrupts = new Interrupts(io)
  let code: number = exit.badUsage
  try {
    const agent = createAgent(app, options.config, { cwd })
    const result = await runTurn(app, agent, task, options, interrupts, io)
    code = interrupts.exitCode ?? (result.stopReason === 'completed' ? exit.completed : exit.notCompleted)
    return code
  } finally {
    await closeApp(app, code, io)
    interrupts.close()
  }
}

async function runTurn(app: App, agent: Agent, task: string, { json, quiet }: RunOptions, interrupts: Interrupts, io: Io): Promise<TurnResult> {
  const log = new RunLog(app.ctx, agent)
  const lines = json ? new JsonLines(app.ctx, agent, log, io.stdout) : undefined
  const progress = json || quiet ? undefined : new ProgressLines(app.ctx, agent, log, io.stderr)
  const result = await agent.run(task, { signal: interrupts.signal })
  progress?.flush()
  if (lines) lines.end(result)
  else if (result.stopReason === 'completed') io.stdout.write(withNewline(textOf(result.output)))
  if (progress && log.runs.length > 0) io.stderr.write(`\n${renderTree(log, result)}`)
  if (result.stopReason !== 'completed') reportEnd(result, interrupts, io, json || quiet)
  return result
}

function reportEnd({ stopReason, diagnostic, output, usage }: TurnResult, interrupts: Interrupts, io: Io, terse = false): void {
  if (interrupts.exitCode !== undefined) {
    io.stderr.write(`offshoot: interrupted after ${duration(usage.durationMs)}\n`)
    return
  }
  io.stderr.write(`offshoot: not completed (${stopReason})${diagnostic === undefined ? '' : `: ${diagnostic}`}\n`)
  const partial = textOf(output)
  if (partial !== '' && !terse) io.stderr.write(`what the agent had written so far, which is no answer:\n${withNewline(partial)}`)
}

async function readTask({ task, '--': rest = [] }: RunOptions, io: Io): Promise<string> {
  const words = [...task, ...rest].join(' ').trim()
  if (words !== '' && words !== '-') return words
  if (io.stdin.isTTY) throw new UsageError('offshoot run: no task; give it in quotes (offshoot run "…"), or pipe it in')
  const piped = (await readAll(io.stdin)).trim()
  if (piped === '') throw new UsageError('offshoot run: no task; nothing was given and standard input is empty')
  return piped
}

function workingDirectory(dir: string | undefined): string {
  const cwd = resolve(String(dir ?? '.'))
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`offshoot run: --cwd ${dir} is no folder`)
  return cwd
}

function withNewline(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
