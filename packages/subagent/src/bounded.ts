import { onAbort } from '@offshoot/agent'

export interface BoundedAbort {
  /** Read only where the work takes its time. */
  signal(): AbortSignal
  /** How long the work may go on after the abort. */
  readonly graceMs: number
}

/**
 * Settles as `work` does, or rejects with `onTimeout()` after `timeoutMs`; with `abort`, also `graceMs` after its signal
 * aborted. Arms nothing for work that is done at once.
 */
export function bounded<T>(work: Promise<T>, timeoutMs: number, onTimeout: () => Error, abort?: BoundedAbort): Promise<T> {
  return new Promise((resolve, reject) => {
    let done = false
    let timer: NodeJS.Timeout | undefined
    let unlink: (() => void) | undefined
    const finish = (): void => {
      done = true
      clearTimeout(timer)
      unlink?.()
    }
    const arm = (ms: number): void => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        finish()
        reject(onTimeout())
      }, ms)
    }
    const watch = (): void => {
      if (done) return
      const signal = abort?.signal()
      arm(signal?.aborted ? abort!.graceMs : timeoutMs)
      if (signal) unlink = onAbort(signal, () => { arm(abort!.graceMs) })
    }
    work.then(value => {
      finish()
      resolve(value)
    }, (error: unknown) => {
      finish()
      reject(error)
    })
    queueMicrotask(() => { queueMicrotask(watch) })
  })
}
