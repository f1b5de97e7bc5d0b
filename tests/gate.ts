/** Something that happens once, for those who wait for it. */
export interface Gate<T = void> {
  readonly opened: Promise<T>
  open(value: T): void
  fail(error: unknown): void
}

export function gate<T = void>(): Gate<T> {
  let open!: (value: T) => void
  let fail!: (error: unknown) => void
  const opened = new Promise<T>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  return { opened, open, fail }
}
