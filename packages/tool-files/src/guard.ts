import { createContext, Script } from 'node:vm'
import { FileError } from './error.ts'

const limitMs = 500
const realm: { task?: (() => void) | undefined } = createContext({})
const script = new Script('task()')

/**
 * Run a regular expression over text, and stop it where it takes half a second: one with nested repeats may otherwise take
 * years, and the whole process with it.
 *
 * @throws {FileError} `SLOW_PATTERN`.
 */
export function guarded<T>(pattern: string, task: () => T): T {
  let answer: T | undefined
  realm.task = () => { answer = task() }
  try {
    script.runInContext(realm, { timeout: limitMs })
    return answer as T
  } catch (error) {
    if (isTimeout(error)) {
      throw new FileError('SLOW_PATTERN', `the pattern ${JSON.stringify(pattern)} takes too long; make it simpler, without repeats inside repeats`)
    }
    throw error
  } finally {
    realm.task = undefined
  }
}

// It is made in the other realm, where `Error` is another one.
function isTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}
