import { ndJsonStream } from '@agentclientprotocol/sdk'
import { setTimeout as delay } from 'node:timers/promises'
import { readableBytes, writableBytes } from './bytes.ts'
import type { AcpHost } from './host.ts'
import { AcpServer } from './server.ts'

export type { AcpHost } from './host.ts'

export interface ServeOptions {
  /** What the client writes. */
  readonly input: NodeJS.ReadableStream
  /** Where the protocol goes, and nothing else. */
  readonly output: NodeJS.WritableStream
  /** Boots the app: called once, when the client has its answer to `initialize`. Its failure is what sessions are refused with. */
  readonly boot: () => Promise<AcpHost>
  readonly version: string
  /** How long what is at work may take to end when the input has, in milliseconds; then it is left. Default: as long as it takes. */
  readonly endMs?: number
  /** Ends the serving, as the end of the input does. */
  readonly signal?: AbortSignal
}

/** Serve the app's agent over the Agent Client Protocol, until the input ends. Settles when no session is at work any more, or after `endMs`; the app is the caller's to end. */
export async function serveAcp({ input, output, boot, version, endMs, signal }: ServeOptions): Promise<void> {
  let booting: Promise<AcpHost> | undefined
  const server = new AcpServer({
    stream: ndJsonStream(writableBytes(output), readableBytes(input)),
    host: () => booting ??= boot(),
    version,
  })
  const end = (): void => { server.connection.close() }
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  await server.connection.closed.catch(() => {})
  signal?.removeEventListener('abort', end)
  const ended = server.close()
  await (endMs === undefined ? ended : Promise.race([ended, delay(endMs, undefined, { ref: false })]))
}
