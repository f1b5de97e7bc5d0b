import type { App } from '@offshoot/loader'
import { Writable } from 'node:stream'
import { endsInTime } from './ending.ts'
import { Interrupts } from './interrupts.ts'
import { exit, type Io } from './io.ts'

export interface AcpOptions {
  config: string
}

/** A client that is gone waits for nothing: how long turns may take to end, and then the app. */
const endMs = 500

/** `offshoot acp`: serve the app's agent to one client on stdio, until its input ends. */
export async function acp(options: AcpOptions, io: Io, version: string): Promise<number> {
  if (io.stdin.isTTY) io.stderr.write('offshoot acp: editors and other clients start this, and speak the Agent Client Protocol on its stdin; see docs/editors.md. Ctrl-D ends it.\n')
  const output = reserve(io)
  // Apart from the app: the client has its first answer before that is loaded.
  const { serveAcp } = await import('@offshoot/acp-agent')
  const interrupts = new Interrupts(io)
  const file = String(options.config)
  const open = async (): Promise<App> => {
    const [{ openApp }, { guardStdout }] = await Promise.all([import('./app.ts'), import('./descriptors.ts')])
    // Plugins that ship with the command write to nothing but the console.
    return openApp(file, io, guardStdout)
  }
  let app: Promise<App> | undefined
  await serveAcp({
    input: io.stdin, output, version, endMs, signal: interrupts.signal,
    boot: () => app ??= open().catch((error: unknown) => {
      io.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
      throw error
    }),
  })
  // One that is still being loaded is none yet.
  if (app) await endsInTime(app.then(loaded => loaded.dispose(), () => {}), endMs)
  interrupts.close()
  const code = interrupts.exitCode ?? exit.completed
  // What still runs goes with the process: whoever started it has seen to that.
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
