import { randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { access, lstat, mkdir, open, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { explain, systemCode } from './error.ts'
import { changed, checkRegular, type Workdir } from './workdir.ts'

/**
 * Make `content` the content of the file at `real`, which `resolveForWriting` answered, in one step: whoever reads it
 * sees the old or the new. A file that exists keeps its permissions. Parent folders are made.
 *
 * @returns whether the file was there before.
 */
export async function replaceFile(workdir: Workdir, real: string, content: string): Promise<boolean> {
  try {
    const old = await statOrMissing(real)
    if (old) {
      checkRegular(old, workdir.show(real))
      await access(real, constants.W_OK)
    }
    const folder = dirname(real)
    await mkdir(folder, { recursive: true })
    if (await realpath(folder) !== folder) throw changed(workdir.show(real))
    await writeBeside(real, join(folder, `.offshoot-${randomBytes(6).toString('hex')}.tmp`), content, old)
    return old !== undefined
  } catch (error) {
    throw explain(error, workdir.show(real))
  }
}

async function writeBeside(real: string, temporary: string, content: string, old: Stats | undefined): Promise<void> {
  try {
    const file = await open(temporary, 'wx', old ? 0o600 : 0o666)
    try {
      if (old) await file.chmod(old.mode & 0o777)
      await file.writeFile(content)
    } finally {
      await file.close()
    }
    await rename(temporary, real)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

async function statOrMissing(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
