import { writeSync } from 'node:fs'

/**
 * Write to stderr as programs do that are not Node: whoever does not read it holds the agent up, and nothing is lost when the
 * agent ends right after.
 */
export function writeStderr(text: string): void {
  let rest = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(2, rest))
    } catch (error) {
      // Nobody reads it any more; or it is shared with a pipe that is full and does not wait.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}
