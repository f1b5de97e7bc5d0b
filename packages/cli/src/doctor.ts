import { describeFailure, scrub } from '@offshoot/model'
import type { App } from '@offshoot/loader'
import { closeApp, createAgent, openApp, workingDirectory } from './app.ts'
import { Interrupts } from './interrupts.ts'
import { exit, type Io } from './io.ts'
import { checkModel } from './model-check.ts'
import { duration, oneLine } from './wording.ts'

export interface DoctorOptions {
  config: string
  cwd?: string
}

/** How long one thing may take to answer. */
const limitMs = 60_000
const lineWidth = 600

interface Check {
  readonly name: string
  /** Answers what was found out; rejects with what is wrong. */
  readonly run: (signal: AbortSignal) => Promise<string>
}

/** `offshoot doctor`: load the app, ask each model for a word, and start each agent outside this process up to its first session. */
export async function doctor(options: DoctorOptions, io: Io): Promise<number> {
  const cwd = workingDirectory('doctor', options.cwd)
  const app = await openApp(String(options.config), io)
  const interrupts = new Interrupts(io)
  let code: number = exit.badUsage
  try {
    createAgent(app, options.config, { cwd })
    io.stdout.write(`ok      ${options.config}\n`)
    const outcomes = checksOf(app, cwd).map(check => carryOut(check, interrupts.signal))
    let wrong = 0
    // In the order of the list, each as soon as those before it are there.
    for (const outcome of outcomes) {
      const { line, isWell } = await outcome
      if (!isWell) wrong++
      if (interrupts.exitCode === undefined) io.stdout.write(`${line}\n`)
    }
    code = interrupts.exitCode ?? (wrong === 0 ? exit.completed : exit.notCompleted)
    return code
  } finally {
    await closeApp(app, code, io)
    interrupts.close()
  }
}

function checksOf(app: App, cwd: string): Check[] {
  const models = app.ctx.get('models')
  const subagents = app.ctx.get('subagents')
  return [
    ...[...models?.list() ?? []].sort().map(name => ({ name: `model ${name}`, run: (signal: AbortSignal) => checkModel(models!.get(name), signal) })),
    ...[...subagents?.list() ?? []].sort().map(name => ({
      name: `provider ${name}`,
      run: async (signal: AbortSignal) => await subagents?.getProvider(name)?.check?.({ signal, cwd }) ?? 'in this process',
    })),
  ]
}

async function carryOut({ name, run }: Check, signal: AbortSignal): Promise<{ readonly line: string, readonly isWell: boolean }> {
  const startedAt = performance.now()
  const late = AbortSignal.timeout(limitMs)
  const both = AbortSignal.any([signal, late])
  try {
    const found = await abandoned(run(both), both)
    return { isWell: true, line: `ok      ${name}: ${oneLine(scrub(found), lineWidth)} (${duration(Math.round(performance.now() - startedAt))})` }
  } catch (error) {
    const why = late.aborted ? `no answer within ${duration(limitMs)}` : describeFailure(error)
    return { isWell: false, line: `failed  ${name}: ${oneLine(scrub(why), lineWidth)}` }
  }
}

/** How long a check may take to end once it is told to. */
const graceMs = 15_000

/** As `check` does; one that goes on after `signal` is left to itself. */
async function abandoned(check: Promise<string>, signal: AbortSignal): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  let abort!: () => void
  const gone = new Promise<never>((_resolve, reject) => {
    abort = () => { timer = setTimeout(() => { reject(signal.reason as Error) }, graceMs) }
    signal.addEventListener('abort', abort)
  })
  try {
    return await Promise.race([check, gone])
  } finally {
    signal.removeEventListener('abort', abort)
    clearTimeout(timer)
  }
}
