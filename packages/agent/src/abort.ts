interface Hub {
  readonly listeners: Set<() => void>
  readonly fire: () => void
}

const hubs = new WeakMap<AbortSignal, Hub>()

/**
 * Call `listener` when `signal` aborts, until the returned function is called.
 *
 * However many listeners there are, the signal itself carries one: adding to a signal costs as much as it already
 * has listeners, and one long-lived signal may cover thousands of children.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let hub = hubs.get(signal)
  if (!hub) {
    const listeners = new Set<() => void>()
    hub = { listeners, fire: () => { callAll(listeners) } }
    hubs.set(signal, hub)
  }
  const { listeners, fire } = hub
  if (listeners.size === 0) signal.addEventListener('abort', fire, { once: true })
  listeners.add(listener)
  return () => {
    if (listeners.delete(listener) && listeners.size === 0) signal.removeEventListener('abort', fire)
  }
}

/** One that throws keeps none of the others from being called, as on the signal itself. */
function callAll(listeners: ReadonlySet<() => void>): void {
  const errors: unknown[] = []
  for (const listener of [...listeners]) {
    try {
      listener()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
