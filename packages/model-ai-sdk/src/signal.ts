/**
 * A signal for one request, which aborts when `source` does until it is released.
 *
 * `fetch` leaves its listener on the signal that it is given; a signal that outlives many requests must not collect them.
 */
export function follow(source: AbortSignal | undefined): { signal: AbortSignal, release: () => void } {
  const controller = new AbortController()
  const abort = (): void => { controller.abort(source?.reason) }
  if (source?.aborted) abort()
  source?.addEventListener('abort', abort, { once: true })
  return { signal: controller.signal, release: () => { source?.removeEventListener('abort', abort) } }
}
