/** A small generator of pseudo-random numbers (mulberry32), so that a failure can be run again by its seed. */
export class Random {
  private state: number

  constructor(seed: number) {
    this.state = seed
  }

  next(): number {
    this.state = this.state + 0x6D2B79F5 | 0
    let t = Math.imul(this.state ^ this.state >>> 15, 1 | this.state)
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t
    return ((t ^ t >>> 14) >>> 0) / 2 ** 32
  }

  below(n: number): number {
    return Math.floor(this.next() * n)
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }

  chance(p: number): boolean {
    return this.next() < p
  }
}
