import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { exit, type Io, UsageError } from './io.ts'

/** `offshoot init`: a config file to begin with. */
export async function init({ dir = '.', force = false }: { dir?: string | undefined, force?: boolean | undefined }, io: Io): Promise<number> {
  const file = join(dir, 'cordis.yml')
  const template = await readFile(new URL('../templates/cordis.yml', import.meta.url), 'utf8')
  try {
    await mkdir(dir, { recursive: true })
    await writeFile(file, template, { flag: force ? 'w' : 'wx' })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new UsageError(`${file} is there already; replace it with: offshoot init --force`, { cause: error })
    throw new UsageError(`${file} cannot be written: ${message}`, { cause: error })
  }
  const cd = relative('.', dir)
  io.stdout.write(`wrote ${file}\n\nIt runs as it stands, on a scripted model:\n`)
  io.stdout.write(`${cd === '' ? '' : `  cd ${cd}\n`}  offshoot run "What is in this folder?"\n`)
  io.stdout.write('\nOn a real one, once these are set: OPENAI_BASE_URL, OPENAI_MODEL, OPENAI_API_KEY\n')
  return exit.completed
}
