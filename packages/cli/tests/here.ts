import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { type Io, main } from '../src/index.ts'
import type { Screen } from './screen.ts'
import type { Finished, StartOptions } from './support.ts'

/**
 * The command in this process, which costs a tenth of a start: for what needs no signals and no open input. Folder and
 * environment are the process's while it runs, so that no two of these may overlap. With `screen`, stderr is that terminal.
 */
export async function offshootHere(args: readonly string[], { cwd, env = {}, input = '', screen }: StartOptions & { screen?: Screen }): Promise<Finished> {
  const before = { cwd: process.cwd(), env: { ...process.env } }
  const written = { stdout: '', stderr: '' }
  const io: Io = Object.assign(new EventEmitter(), {
    stdin: Readable.from([input]),
    stdout: { write: (text: string) => { written.stdout += text } },
    stderr: screen ?? { write: (text: string) => { written.stderr += text } },
    exit: (code: number) => { throw new Error(`ended at once, with ${code}`) },
  })
  for (const name of ['OPENAI_BASE_URL', 'OPENAI_MODEL', 'OPENAI_API_KEY']) delete process.env[name]
  Object.assign(process.env, env)
  process.chdir(cwd)
  try {
    return { code: await main(args, io), ...written }
  } finally {
    process.chdir(before.cwd)
    for (const name of Object.keys(env)) delete process.env[name]
    Object.assign(process.env, before.env)
  }
}
