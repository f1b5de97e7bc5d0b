import { guarded } from './guard.ts'

const shownCharacters = 300
const shownBefore = 100

export interface MatchedLine {
  /** From 1. */
  readonly line: number
  /** The line, or what of a long one is around the match. */
  readonly excerpt: string
}

/** The first lines of `text` that `regex` matches, at most `max`. @throws {FileError} `SLOW_PATTERN`. */
export function matchLines(text: string, regex: RegExp, max: number): MatchedLine[] {
  return guarded(regex.source, () => {
    const found: MatchedLine[] = []
    let start = 0
    for (let line = 1; start < text.length && found.length < max; line++) {
      const newline = text.indexOf('\n', start)
      const end = newline < 0 ? text.length : newline
      const content = text.slice(start, text[end - 1] === '\r' && end > start ? end - 1 : end)
      const match = regex.exec(content)
      if (match) found.push({ line, excerpt: excerptOf(content, match.index) })
      start = end + 1
    }
    return found
  })
}

function excerptOf(line: string, at: number): string {
  const from = Math.max(0, Math.min(at - shownBefore, line.length - shownCharacters))
  const part = line.slice(from, from + shownCharacters)
  const excerpt = `${from > 0 ? '…' : ''}${part}${from + part.length < line.length ? '…' : ''}`
  // A copy: a slice would keep the whole file in memory.
  return Buffer.from(excerpt).toString()
}
