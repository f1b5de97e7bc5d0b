/** The last bytes of a stream, however much there was. */
export class Tail {
  /** Bytes seen in all. */
  total = 0
  private readonly maxBytes: number
  private pieces: Buffer[] = []
  private kept = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  write(chunk: Buffer): void {
    this.total += chunk.length
    this.pieces.push(chunk)
    this.kept += chunk.length
    while (this.kept - this.pieces[0]!.length >= this.maxBytes) this.kept -= this.pieces.shift()!.length
  }

  /** As text; a character that the cut split is left out. */
  text(): string {
    return Buffer.concat(this.pieces).subarray(-this.maxBytes).toString('utf8').replace(/^\uFFFD+/, '')
  }
}
