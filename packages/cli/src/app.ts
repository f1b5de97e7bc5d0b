import type { Agent, AgentOptions } from '@offshoot/agent'
import { type App, type AppError, formatProblem, loadApp } from '@offshoot/loader'
import type {} from '@offshoot/approvals'
import type {} from '@offshoot/subagent'
import type {} from '@offshoot/tasks'
import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { endLimitMs, endsInTime } from './ending.ts'
import { type Io, UsageError } from './io.ts'
import { isShipped, shipped } from './shipped.ts'

/**
 * The app of a config file, with the packages that ship with this command as a fallback.
 *
 * @param foreign called before a plugin from elsewhere is loaded
 */
export async function openApp(file: string, io: Pick<Io, 'stderr'>, foreign?: () => void): Promise<App> {
  const isOurs = isShipped(file)
  if (!isOurs) foreign?.()
  const load = isOurs ? loadApp : await loaderOnDisk()
  try {
    return await load(file, {
      resolveFrom: [import.meta.url],
      ...isOurs ? { modules: new Map(Object.entries(shipped)) } : {},
      onProblem: problem => { io.stderr.write(`${formatProblem(problem)}\n`) },
      log: (level, name, text) => {
        if (level === 'warn' || level === 'error') io.stderr.write(`${level}: ${name}: ${text}\n`)
      },
    })
  } catch (error) {
    // By its name: the loader may be a copy that the command carries.
    if (!(error instanceof Error) || error.name !== 'AppError') throw error
    const { code } = error as AppError
    const hint = code === 'UNREADABLE' ? '; write one with: offshoot init' : ''
    throw new UsageError(`${error.message}${hint}`, { cause: error })
  }
}

/** Not the one that the command carries, where it is carried itself. */
async function loaderOnDisk(): Promise<typeof loadApp> {
  const { href } = pathToFileURL(createRequire(import.meta.url).resolve('@offshoot/loader'))
  return (await import(/* @vite-ignore */ href) as { loadApp: typeof loadApp }).loadApp
}

/**
 * The agent that a command talks to.
 *
 * @throws {UsageError} where the config gives it nothing to run on.
 */
export function createAgent(app: App, file: string, options: AgentOptions): Agent {
  const agents = app.ctx.get('agents')
  if (!agents) throw new UsageError(`${file}: no entry provides agents; add: - name: '@offshoot/runtime'`)
  try {
    return agents.create(options)
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** End the app; one that does not come to an end is left, with `code`, and that is said. */
export async function closeApp(app: App, code: number, io: Io): Promise<void> {
  if (await endsInTime(app.dispose())) return
  io.stderr.write(`offshoot: something in the app did not end within ${endLimitMs / 1000} s; ending without it\n`)
  io.exit(code)
}

/** @throws {UsageError} where `dir` is no folder. */
export function workingDirectory(command: string, dir: string | undefined): string {
  const cwd = resolve(String(dir ?? '.'))
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`offshoot ${command}: --cwd ${dir} is no folder`)
  return cwd
}
