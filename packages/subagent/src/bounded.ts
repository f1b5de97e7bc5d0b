/** Settles as `work` does, or rejects with `onTimeout()` after `timeoutMs`. Arms no timer for work that is done at once. */
export async function bounded(work: Promise<void>, timeoutMs: number, onTimeout: () => Error): Promise<void> {
  let done = false
  const settled = (): void => { done = true }
  work.then(settled, settled)
  await Promise.resolve()
  await Promise.resolve()
  if (done) return work
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => { reject(onTimeout()) }, timeoutMs)
  })
  try {
    await Promise.race([work, deadline])
  } finally {
    clearTimeout(timer)
  }
}
