/** Settles after that many microtasks. */
export async function hop(microtasks: number): Promise<void> {
  for (let left = microtasks; left > 0; left--) await Promise.resolve()
}

/** A time that only the test moves. What is due at one moment begins in the order in which it was asked for. */
export class Clock {
  private now = 0
  private readonly due = new Map<number, (() => void)[]>()

  /** Call `act` at that time, `hops` microtasks after its moment began. */
  at(time: number, hops: number, act: () => void): void {
    const begin = (): void => { void hop(hops).then(act) }
    const moment = this.due.get(time)
    if (moment) moment.push(begin)
    else this.due.set(time, [begin])
  }

  /** Settles `duration` from now, in a moment of its own if that is 0. */
  sleep(duration: number): Promise<void> {
    return new Promise(resolve => { this.at(this.now + duration, 0, resolve) })
  }

  /** Move time on until nothing is due any more. `ticks` says for how many turns of the event loop each moment lasts. */
  async runOut(ticks: () => number): Promise<void> {
    while (this.due.size > 0) {
      this.now = Math.min(...this.due.keys())
      const moment = this.due.get(this.now)!
      this.due.delete(this.now)
      for (const begin of moment) begin()
      for (let left = ticks(); left > 0; left--) await new Promise<void>(resolve => { setImmediate(resolve) })
    }
  }
}
