import { statSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { describeError } from './describe.ts'
import { AppError } from './error.ts'
import { shorten } from './resolve.ts'
import type { App, ReloadResult } from './types.ts'

/** Editors write a file in several steps. */
const PAUSE = 100
/** How long a file may be missing, or empty, while it is replaced. */
const ABSENCE = 1_000

export interface WatchOptions {
  /** Takes what each reload changed. */
  readonly onReload?: (result: ReloadResult) => void
  /** Takes why the file was not taken over; the app goes on as it was. */
  readonly onRefused?: (error: AppError) => void
  /** Ends the watching; so does the end of the app. */
  readonly signal?: AbortSignal
}

/**
 * Reload the app whenever its config file changes, from now on.
 *
 * @returns what ends the watching. Idempotent.
 * @throws {AppError} `UNREADABLE` where the folder of the file cannot be watched
 */
export function watchApp(app: App, { onReload, onRefused, signal }: WatchOptions = {}): () => void {
  const { file } = app
  let timer: NodeJS.Timeout | undefined
  const end = () => { void stop() }

  // The folder, not the file: editors replace a file by another one of its name.
  const watcher = watchFolder()
  watcher.on('change', (_, name) => { if (name === null || String(name) === basename(file)) schedule() })
  watcher.on('error', error => {
    end()
    onRefused?.(unwatchable(error))
  })
  const stop = app.ctx.effect(() => () => {
    clearTimeout(timer)
    watcher.close()
    signal?.removeEventListener('abort', end)
  }, 'watchApp()')
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  return end

  function watchFolder() {
    try {
      return watch(dirname(file))
    } catch (error) {
      throw unwatchable(error)
    }
  }

  function unwatchable(error: unknown): AppError {
    return new AppError('UNREADABLE', [{ where: shorten(dirname(file)), message: `cannot be watched: ${describeError(error)}`, error }], { cause: error })
  }

  function schedule(): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (holdsText(file)) void reload()
      else timer = setTimeout(() => { void reload() }, ABSENCE)
    }, PAUSE)
  }

  async function reload(): Promise<void> {
    try {
      const result = await app.reload()
      onReload?.(result)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.code !== 'CLOSED') onRefused?.(error)
    }
  }
}

function holdsText(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
}
