import { type App, type AppError, formatProblem, type ReloadResult, watchApp } from '@offshoot/loader'
import type { Writer } from './io.ts'

/** Take over edits of the app's config file, and say of each what came of it. `afterwards` is called once that is done. */
export function followConfig(app: App, out: Writer, signal: AbortSignal, afterwards?: () => void): void {
  watchApp(app, {
    signal,
    onReload: result => {
      out.write(`reloaded: ${describe(result)}\n`)
      afterwards?.()
    },
    onRefused: error => {
      out.write(`${error.problems.map(problem => `${formatProblem(problem)}\n`).join('')}${describeRefusal(error)}\n`)
      afterwards?.()
    },
  })
}

function describe({ restarted, added, removed }: ReloadResult): string {
  const changes = [...restarted.map(id => `${id} restarted`), ...added.map(id => `${id} added`), ...removed.map(id => `${id} removed`)]
  return changes.join(', ') || 'no entry changed'
}

function describeRefusal({ code }: AppError): string {
  return code === 'NOT_RESTORED' ? 'not taken over, and not all of it runs as before' : 'kept as it was'
}
