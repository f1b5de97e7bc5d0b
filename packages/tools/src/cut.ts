/** The tool that reads spills back. */
export const spillReader = 'read_file'

/** The most that `joinCut` puts between a head and a tail, its own lines' ends included. */
export const sentenceBytes = 256

/** What stands between a head and a tail, with how much is cut and the id of the spill that holds the whole. */
export const wholeIsKept = /\n\[(\d+) bytes cut here; the whole output: (?:read_file \{"path": )?"?spill:([0-9a-f]{16})[^\n]*\]\n/g

/** The head and the tail of an output of `total` bytes, and between them the sentence that says so. */
export function joinCut(head: Buffer, tail: Buffer, total: number, where: string): string {
  return `${head.toString()}\n[${total - head.length - tail.length} bytes cut here; ${where}]\n${tail.toString()}`
}

/** Where what was cut can be read: in a spill of the whole output, or only of its first `first` bytes. */
export function pointerTo(id: string, first: number | undefined, canRead: boolean): string {
  const what = first === undefined ? 'the whole output' : `the first ${first} bytes of the output`
  return canRead ? `${what}: ${spillReader} {"path": "spill:${id}"}` : `${what}: spill:${id}, which no tool of yours reads`
}

/** `bytes` less the character that the cut after them split. */
export function beforeCut(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (isContinuation(byte)) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** `bytes` less the character that the cut before them split. */
export function afterCut(bytes: Buffer): Buffer {
  let start = 0
  while (start < Math.min(3, bytes.length) && isContinuation(bytes[start]!)) start++
  return bytes.subarray(start)
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
