/** How long an app, or its agent, may take to end before the command goes on without it. */
export const endLimitMs = 10_000

/** Wait for an ending, but not for ever. Answers whether it came. */
export async function endsInTime(ending: Promise<void>, limitMs: number = endLimitMs): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>(settle => { timer = setTimeout(() => { settle(false) }, limitMs) })
  try {
    return await Promise.race([ending.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
