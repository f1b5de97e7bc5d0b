import { existsSync, readFileSync, watch, writeFileSync } from 'node:fs'

/** One thing that a fake agent did. */
export interface FakeAgentLogLine {
  readonly pid: number
  /**
   * `start`, `env`, `companion`, a phase, `asked`, `answered`, `permission-asked`, `permission`, `under-way`, `cancel`,
   * `prompt-answered`, `late`, `notification`, `hang`, `crash`, `sigterm`, `eof`; `stray` for a line that answers nothing it asked.
   */
  readonly what: string
  /** Of a phase its parameters, of `permission` the result, of `companion` its kind and pid. */
  readonly more: unknown
}

/** The log file of one or several fake agents, for tests that go on when something has happened. */
export class FakeAgentLog {
  readonly path: string

  /** Makes the file where it is not there yet. */
  constructor(path: string) {
    this.path = path
    if (!existsSync(path)) writeFileSync(path, '')
  }

  /** All lines, or those that say `what`. */
  lines(what?: string): FakeAgentLogLine[] {
    const complete = readFileSync(this.path, 'utf8').split('\n').slice(0, -1)
    return complete.map(lineOf).filter(line => what === undefined || line.what === what)
  }

  /**
   * The line that is the `count`th to say `what`, as soon as it is there. It looks when the file changes and uses no clock.
   * Rejects when `signal` aborts.
   */
  async waitFor(what: string, { count = 1, signal }: { readonly count?: number, readonly signal?: AbortSignal } = {}): Promise<FakeAgentLogLine> {
    let stop: (() => void) | undefined
    try {
      return await new Promise<FakeAgentLogLine>((resolve, reject) => {
        const look = (): void => {
          const line = this.lines(what)[count - 1]
          if (line) resolve(line)
        }
        const abort = (): void => {
          const written = this.lines().map(line => line.what).join(', ')
          reject(new Error(`The fake agent did not write "${what}"${count === 1 ? '' : ` ${count} times`}; it wrote: ${written || 'nothing'}`))
        }
        const watcher = watch(this.path, look)
        signal?.addEventListener('abort', abort)
        stop = () => {
          watcher.close()
          signal?.removeEventListener('abort', abort)
        }
        look()
        if (signal?.aborted) abort()
      })
    } finally {
      stop?.()
    }
  }
}

function lineOf(text: string): FakeAgentLogLine {
  const [, pid, what, more] = /^(\d+) (\S+) ?(.*)$/.exec(text)!
  return { pid: Number(pid), what: what!, more: more ? JSON.parse(more) as unknown : undefined }
}
