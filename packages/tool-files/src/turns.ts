/** Lets tasks on one thing take turns, so that two agents that edit one file do not undo each other's work. */
export class Turns {
  private readonly last = new Map<string, Promise<unknown>>()

  async take<T>(thing: string, task: () => Promise<T>): Promise<T> {
    const before = this.last.get(thing)
    const mine = before ? before.then(task, task) : task()
    this.last.set(thing, mine)
    try {
      return await mine
    } finally {
      if (this.last.get(thing) === mine) this.last.delete(thing)
    }
  }
}
