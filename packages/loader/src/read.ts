import { readFileSync } from 'node:fs'
import { describeError } from './describe.ts'
import { AppError } from './error.ts'
import { shorten } from './resolve.ts'

/** @throws {AppError} `UNREADABLE`, caused by what the file system says */
export function readConfig(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const message = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'is a folder; name the config file in it' : describeError(error)
    throw new AppError('UNREADABLE', [{ where: shorten(path), message, error }], { cause: error })
  }
}
