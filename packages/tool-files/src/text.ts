import type { FileHandle } from 'node:fs/promises'
import { FileError } from './error.ts'

const probeBytes = 8192
const chunkBytes = 64 * 1024

/** Whether a file that begins with `bytes` is binary: text has no NUL near its beginning. */
export function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, probeBytes).includes(0)
}

/** The file from where it stands, in chunks. A chunk is valid until the next one is asked for. */
export async function* chunksOf(file: FileHandle, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(chunkBytes)
  for (;;) {
    signal?.throwIfAborted()
    const { bytesRead } = await file.read(buffer, 0, chunkBytes, null)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

/** All of a file that is to be edited; a byte order mark and line endings stay in the text. */
export async function readText(file: FileHandle, shown: string, maxBytes: number): Promise<string> {
  const { size } = await file.stat()
  if (size > maxBytes) throw new FileError('TOO_LARGE', `"${shown}" has ${size} bytes; files over ${maxBytes} bytes are not edited`)
  const bytes = await file.readFile()
  if (looksBinary(bytes)) throw binary(shown, size)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new FileError('BINARY', `"${shown}" is not valid UTF-8; editing it as text would damage it`, { cause: error })
  }
}

export function binary(shown: string, size: number): FileError {
  return new FileError('BINARY', `"${shown}" is a binary file (${size} bytes), which cannot be shown or edited as text`)
}
