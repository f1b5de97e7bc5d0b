import { readFile } from 'node:fs/promises'
import { describeError } from './describe.ts'
import { AppError } from './error.ts'
import { shorten } from './resolve.ts'

/** @throws {AppError} `UNREADABLE`, caused by what the file system says */
export async function readConfig(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const message = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'is a folder; name the config file in it' : describeError(error)
    throw new AppError('UNREADABLE', [{ where: shorten(path), message, error }], { cause: error })
  }
}
