import type { AgentListener } from './types.ts'

/** One listener for all of them. One that throws, or rejects, is logged and costs the others nothing. */
export function emitTo(listeners: readonly AgentListener[], log: (error: unknown) => void): AgentListener {
  return event => {
    for (const listener of listeners) {
      try {
        const returned: unknown = listener(event)
        if (returned instanceof Promise) returned.catch(log)
      } catch (error) {
        log(error)
      }
    }
  }
}
