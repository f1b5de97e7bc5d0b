import type { App } from '@offshoot/loader'
import { Writable } from 'node:stream'
import { Interrupts } from './interrupts.ts'
import { exit, type Io } from './io.ts'

export interface AcpOptions {
  config: string
}

/** A client that is gone waits for nothing. */
const endMs = 1200

/** `offshoot acp`: serve the app's agent to one client on stdio, until its input ends. */
export async function acp(options: AcpOptions, io: Io, version: string): Promise<number> {
  const output = reserve(io)
  // Apart from the app: the client has its first answer before that is loaded.
  const { serveAcp } = await import('@offshoot/acp-agent')
  const interrupts = new Interrupts(io)
  const file = String(options.config)
  const open = async (): Promise<App> => (await import('./acp-app.ts')).openCarried(file, io)
  let app: Promise<App> | undefined
  await serveAcp({
    input: io.stdin, output, version, signal: interrupts.signal,
    boot: () => app ??= open().catch((error: unknown) => {
      io.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
      throw error
    }),
  })
  const loaded = await app?.catch(() => undefined)
  if (loaded) await Promise.race([loaded.dispose(), new Promise(resolve => { setTimeout(resolve, endMs).unref() })])
  interrupts.close()
  const code = interrupts.exitCode ?? exit.completed
  // What still runs goes with the process: whoever started it sees to that.
  io.exit(code)
  return code
}

/** The real stdout, for the protocol alone: what any plugin prints goes to stderr from here on. */
function reserve({ stdout, stderr }: Io): Writable {
  const write = stdout.write.bind(stdout) as unknown as (chunk: Uint8Array, done?: (error?: Error | null) => void) => unknown
  const isReal = (stdout as unknown) === process.stdout
  if (isReal) process.stdout.write = ((...args: Parameters<typeof process.stderr.write>) => (stderr.write as typeof process.stderr.write)(...args)) as typeof process.stdout.write
  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      if (isReal) {
        write(chunk, done)
        return
      }
      write(chunk)
      done()
    },
  })
}
