import { resolve as resolvePath } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Context } from 'cordis'
import { AppError } from './error.ts'
import { LoadedApp } from './loaded-app.ts'
import { readConfig } from './read.ts'
import type { App, LoadOptions } from './types.ts'

/**
 * Load the app that a config file describes.
 *
 * Resolves once every entry runs and nothing loads any more. The caller owns the app and disposes it.
 *
 * @param file the config file, YAML or JSON; relative to the working directory
 * @throws {AppError} with everything that is wrong; whatever had started is disposed by then
 */
export async function loadApp(file: string, options: LoadOptions = {}): Promise<App> {
  const path = resolvePath(file)
  const text = readConfig(path)
  const ctx = new Context()
  ctx.baseUrl = new URL('.', pathToFileURL(path)).href
  const app = new LoadedApp(ctx, path, options)
  const problems = await app.load(text).catch(async (error: unknown) => {
    await app.dispose()
    throw error
  })
  if (problems.length === 0) return app
  await app.dispose()
  throw new AppError('INVALID', problems)
}
