import { type Context, type Events, symbols } from 'cordis'

type Hooks = Record<string, { callback: (...args: unknown[]) => unknown }[] | undefined>
type Arguments<K extends keyof Events> = Events[K] extends (...args: infer A) => unknown ? A : never

export type Notify = <K extends keyof Events & string>(name: K, ...args: Arguments<K>) => void

/**
 * Send Cordis events that only tell: a listener that throws, or rejects, is logged and costs neither the sender
 * nor another listener anything.
 *
 * Cordis's own `emit` stops at the first listener that throws and throws into the sender. The list of hooks
 * is read once per event, from the plain events object, because each read through a context costs more than
 * everything else a delegation does. Tests hold both.
 */
export function createNotify(ctx: Context): Notify {
  const hooks = (ctx.events as unknown as Record<symbol, { _hooks: Hooks }>)[symbols.original]!._hooks
  const { logger } = ctx
  const log = (error: unknown): void => { logger.warn(error) }
  return (name, ...args) => {
    const listeners = hooks[name]
    if (!listeners) return
    for (const { callback } of [...listeners]) {
      try {
        const returned = callback.apply(null, args)
        if (returned instanceof Promise) returned.catch(log)
      } catch (error) {
        log(error)
      }
    }
  }
}
