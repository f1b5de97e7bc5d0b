import type { App } from '@offshoot/loader'
import { existsSync } from 'node:fs'
import { Writable } from 'node:stream'
import type * as carriedApp from './acp-app.ts'
import type * as serve from './acp-serve.ts'
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
  const { serveAcp } = await carried<typeof serve>('acp-serve')
  const interrupts = new Interrupts(io)
  const file = String(options.config)
  const open = async (): Promise<App> => await (await carried<typeof carriedApp>('acp-app')).openShipped(file, io) ?? (await import('./app.ts')).openApp(file, io)
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

/** A module with all that it takes, as the build has put it together; else as it is. */
async function carried<T>(name: 'acp-serve' | 'acp-app'): Promise<T> {
  const bundle = new URL(`./bundled/${name}.js`, import.meta.url)
  if (existsSync(bundle)) return await import(bundle.href) as T
  return await (name === 'acp-serve' ? import('./acp-serve.ts') : import('./acp-app.ts')) as T
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
