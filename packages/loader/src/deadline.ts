/** A time limit on several steps taken together. */
export class Deadline {
  readonly ms: number
  private readonly timer: NodeJS.Timeout | undefined
  private readonly over: Promise<'expired'>
  private readonly expire: (over: 'expired') => void

  constructor(ms: number) {
    this.ms = ms
    const { promise, resolve } = withResolvers<'expired'>()
    this.over = promise
    this.expire = resolve
    if (Number.isFinite(ms)) this.timer = setTimeout(resolve, ms, 'expired')
  }

  /** The time is up now. */
  end(): void {
    this.expire('expired')
  }

  /** What `work` resolves to, or `expired` where the time is up first. */
  limit<T>(work: Promise<T>): Promise<T | 'expired'> {
    return Promise.race([work, this.over])
  }

  clear(): void {
    clearTimeout(this.timer)
  }
}

function withResolvers<T>(): { promise: Promise<T>, resolve: (value: T) => void } {
  let resolve!: (value: T) => void
  return { promise: new Promise<T>((done) => { resolve = done }), resolve }
}
