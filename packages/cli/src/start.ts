import { closeApp, openApp } from './app.ts'
import { followConfig } from './follow-config.ts'
import { Interrupts } from './interrupts.ts'
import { exit, type Io } from './io.ts'

export interface StartOptions {
  config: string
  watch?: boolean
}

/** A timer keeps the process; its length means nothing. */
const longTime = 2 ** 30

/** `offshoot start`: load the app, and keep it running until it is interrupted. stdout belongs to its plugins. */
export async function start(options: StartOptions, io: Io): Promise<number> {
  const file = String(options.config)
  const app = await openApp(file, io)
  const interrupts = new Interrupts(io)
  const { signal } = interrupts
  const keepAlive = setInterval(() => {}, longTime)
  let code: number = exit.notCompleted
  try {
    if (options.watch) followConfig(app, io.stderr, signal)
    const { length } = app.entries
    io.stderr.write(`started ${file} (${length} ${length === 1 ? 'entry' : 'entries'})\n`)
    if (!signal.aborted) await new Promise(resolve => { signal.addEventListener('abort', resolve) })
    code = interrupts.exitCode ?? exit.completed
    return code
  } finally {
    clearInterval(keepAlive)
    await closeApp(app, code, io)
    interrupts.close()
  }
}
