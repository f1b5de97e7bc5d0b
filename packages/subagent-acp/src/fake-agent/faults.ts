import { setTimeout as pause } from 'node:timers/promises'
import type { FakeAgentOptions } from './flags.ts'
import type { Journal } from './journal.ts'
import type { Moment } from './phases.ts'

/** An answer that is an error. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** What goes wrong at a moment, whatever the agent would do there. */
export class Faults {
  private readonly options: FakeAgentOptions
  private readonly journal: Journal

  constructor(options: FakeAgentOptions, journal: Journal) {
    this.options = options
    this.journal = journal
  }

  /** Settles at once where nothing goes wrong, after its delay where there is one, and never where the agent hangs or crashes. */
  async reach(moment: Moment): Promise<void> {
    const { delay = [], crash, hang, error } = this.options
    for (const each of delay) {
      const [at, ms] = each.split(/:(?=\d+$)/)
      if (at === moment) await pause(Number(ms))
    }
    if (crash === moment) return this.crash()
    if (hang === moment) {
      this.journal.write('hang', moment)
      return new Promise(() => {})
    }
    if (error === moment) {
      throw new Refusal(this.options.errorCode ?? -32603, this.options.errorMessage ?? `told to fail at ${moment}`)
    }
  }

  crash(): Promise<never> {
    const { crashSignal, crashCode = 1 } = this.options
    this.journal.write('crash')
    if (crashSignal === undefined) process.exit(crashCode)
    process.kill(process.pid, crashSignal)
    return new Promise(() => {})
  }
}
