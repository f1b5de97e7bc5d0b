import { type Context, Logger, type Message } from 'cordis'
import { describeError } from './describe.ts'

export type LogLevel = 'error' | 'warn' | 'info' | 'debug'

/** Takes one line of the app's log; `name` is the plugin or service that wrote it. */
export type LogSink = (level: LogLevel, name: string, text: string) => void

/**
 * Hands the app's log to `sink`, without the errors that the loader reports itself. Cordis logs an error before it
 * marks the plugin as failed, so lines wait until the current turn of the event loop is over.
 */
export class LogForward {
  private readonly sink: LogSink
  private readonly isReported: (error: unknown) => boolean
  private queue: Message[] = []
  private timer: NodeJS.Immediate | undefined

  constructor(ctx: Context, sink: LogSink, isReported: (error: unknown) => boolean) {
    this.sink = sink
    this.isReported = isReported
    ctx.logger.exporter({
      colors: false,
      export: (message) => {
        this.queue.push(message)
        this.timer ??= setImmediate(() => this.flush())
      },
    })
  }

  flush(): void {
    clearImmediate(this.timer)
    this.timer = undefined
    for (const message of this.queue.splice(0)) {
      if (message.args.some(this.isReported)) continue
      const args = message.args.map((arg: unknown) => arg instanceof Error ? describeError(arg) : arg)
      const text = Logger.format({ colors: false, export() {} }, { ...message, args })
      this.sink(message.type, message.name, text.replace(/\s*\n\s*/g, ' '))
    }
  }
}

/** Warnings and errors, on stderr. */
export const logToStderr: LogSink = (level, name, text) => {
  if (level === 'error' || level === 'warn') process.stderr.write(`${level}: ${name}: ${text}\n`)
}
