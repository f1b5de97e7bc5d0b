/**
 * `text` with every `oldText` replaced, and how many there were: those that overlap count as two.
 *
 * A model writes `\n`, whatever ends the lines of the file: `\n` in `oldText` matches `\r\n` too, and lines of
 * `newText` end as those they replace, else as the file's first line does.
 */
export function substitute(text: string, oldText: string, newText: string): { edited: string, count: number } {
  const flat = flatten(text)
  const wanted = oldText.replaceAll('\r\n', '\n')
  const replacement = newText.replaceAll('\r\n', '\n')
  const fileEnding = endingOf(text) ?? '\n'
  let edited = ''
  let done = 0
  let count = 0
  let overlaps = false
  for (let at = flat.text.indexOf(wanted); at >= 0; at = flat.text.indexOf(wanted, at + wanted.length)) {
    const [from, to] = [at, at + wanted.length].map(flat.original) as [number, number]
    const ending = endingOf(text.slice(from, to)) ?? fileEnding
    edited += text.slice(done, from) + replacement.replaceAll('\n', ending)
    done = to
    if (++count === 1) overlaps = isWithin(flat.text.indexOf(wanted, at + 1), at + wanted.length)
  }
  return { edited: edited + text.slice(done), count: overlaps ? Math.max(2, count) : count }
}

function isWithin(at: number, end: number): boolean {
  return at >= 0 && at < end
}

/** `text` with `\n` for every `\r\n`, and the way back from a position in it. */
function flatten(text: string): { text: string, original: (at: number) => number } {
  if (!text.includes('\r\n')) return { text, original: at => at }
  const removed: number[] = []
  for (let at = text.indexOf('\r\n'); at >= 0; at = text.indexOf('\r\n', at + 2)) removed.push(at - removed.length)
  return { text: text.replaceAll('\r\n', '\n'), original: at => at + countBelow(removed, at) }
}

/** How many of the sorted `numbers` are below `limit`. */
function countBelow(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! < limit) low = middle + 1
    else high = middle
  }
  return low
}

function endingOf(text: string): string | undefined {
  const at = text.indexOf('\n')
  return at < 0 ? undefined : text[at - 1] === '\r' ? '\r\n' : '\n'
}
