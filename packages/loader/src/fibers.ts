import type { Context, Fiber } from 'cordis'

// `FiberState` is a `const enum` in Cordis's types, which isolated modules cannot import.
const State = { PENDING: 0, ACTIVE: 2, FAILED: 3 } as const

export interface FiberListener {
  /** A fiber exists, and nothing of it has run. */
  onCreate(fiber: Fiber): void
  /** A plugin threw, or its config is invalid. May be called more than once for one failure. */
  onFailure(fiber: Fiber, error: unknown): void
}

/**
 * Follows every fiber of an app, not only those of the entries: a plugin inside another one may fail or wait while
 * the one around it is active.
 */
export class FiberWatch {
  private readonly fibers = new Set<Fiber>()
  private readonly failed = new WeakSet<Fiber>()
  private readonly listener: FiberListener

  constructor(ctx: Context, listener: FiberListener) {
    this.listener = listener
    ctx.on('internal/plugin', (fiber) => {
      if (fiber.uid === null) void this.forget(fiber)
      else this.follow(fiber)
    })
    ctx.on('internal/status', (fiber) => {
      if (isIn(fiber, State.FAILED)) void this.check(fiber)
    })
  }

  /** The fibers that are loading or unloading now. */
  busy(): Fiber[] {
    return [...this.fibers].filter(fiber => fiber.inertia)
  }

  /** Resolves once nothing loads or unloads, and every failure has been handed to the listener. */
  async settle(): Promise<void> {
    for (let busy = this.busy(); busy.length; busy = this.busy()) {
      await Promise.allSettled(busy.map(fiber => fiber.await()))
    }
    await Promise.all([...this.fibers].map(fiber => this.check(fiber)))
  }

  /** The fibers that wait for services. */
  waiting(): Fiber[] {
    return [...this.fibers].filter(fiber =>
      fiber.uid !== null && isIn(fiber, State.PENDING) && !fiber.inertia && !this.failed.has(fiber))
  }

  /** The fibers whose plugin threw, or got an invalid config. Cordis does not start them again. */
  failures(): Fiber[] {
    return [...this.fibers].filter(fiber => this.failed.has(fiber))
  }

  /** Follow these no longer. */
  abandon(which: (fiber: Fiber) => boolean): void {
    for (const fiber of this.fibers) if (which(fiber)) this.fibers.delete(fiber)
  }

  private follow(fiber: Fiber): void {
    this.fibers.add(fiber)
    this.listener.onCreate(fiber)
    // An invalid config is found inside the constructor that this is called from, and changes no state.
    queueMicrotask(() => { void this.check(fiber) })
  }

  private async check(fiber: Fiber): Promise<void> {
    try {
      await fiber.await()
      this.failed.delete(fiber)
    } catch (error) {
      this.failed.add(fiber)
      this.listener.onFailure(fiber, error)
    }
  }

  /** Keeps a disposed fiber until it has unloaded. */
  private async forget(fiber: Fiber): Promise<void> {
    await Promise.resolve()
    await fiber.await().catch(() => {})
    this.fibers.delete(fiber)
  }
}

/** Whether a fiber runs, and neither loads nor unloads. */
export function isActive(fiber: Fiber): boolean {
  return isIn(fiber, State.ACTIVE) && !fiber.inertia
}

/** Whether a fiber came from `ctx.inject(services, callback)`, which names it after its callback: it may wait for ever. */
export function isOptional(fiber: Fiber): boolean {
  const { name, callback } = fiber.runtime ?? {}
  return callback !== undefined && name === callback.name && !('inject' in callback)
}

function isIn(fiber: Fiber, state: number): boolean {
  return (fiber.state as number) === state
}
