import { readFile } from 'node:fs/promises'
import { resolve as resolvePath } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Context } from 'cordis'
import { describeError } from './describe.ts'
import { AppError } from './error.ts'
import { LoadedApp } from './loaded-app.ts'
import type { App, LoadOptions } from './types.ts'
import { shorten } from './resolve.ts'

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
  const text = await read(path)
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

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const message = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'is a folder; name the config file in it' : describeError(error)
    throw new AppError('UNREADABLE', [{ where: shorten(path), message, error }], { cause: error })
  }
}
