/** Braces that may turn out to begin no object; a line with more of them is noise from there on. */
const maxAttempts = 64
/** The same for braces that nothing closes: each costs a look at all that follows. A log line that was never finished has a few. */
const maxUnclosed = 8

/**
 * The JSON objects in a line, and what stands between them: an agent's log line and its answer may share one, or two
 * answers. Linear in the length of the line.
 */
export function jsonObjects(line: string): { readonly objects: readonly object[], readonly rest: string } {
  const objects: object[] = []
  let rest = ''
  let from = 0
  for (let attempts = 0, unclosed = 0; from < line.length && attempts < maxAttempts && unclosed < maxUnclosed;) {
    const start = line.indexOf('{', from)
    if (start < 0) break
    const end = endOfObject(line, start)
    const value = end === undefined ? undefined : parse(line.slice(start, end))
    if (!value) attempts++
    if (end === undefined) unclosed++
    rest += line.slice(from, value ? start : start + 1)
    if (value) objects.push(value)
    // A brace that opens nothing is noise: what follows it may still be an object.
    from = value ? end! : start + 1
  }
  return { objects, rest: rest + line.slice(from) }
}

/** Where the object that begins at `start` ends, if it does. */
function endOfObject(line: string, start: number): number | undefined {
  let depth = 0
  let quoted = false
  for (let i = start; i < line.length; i++) {
    const char = line.charCodeAt(i)
    if (quoted) {
      if (char === backslash) i++
      else if (char === quote) quoted = false
    } else if (char === quote) {
      quoted = true
    } else if (char === open) {
      depth++
    } else if (char === close && --depth === 0) {
      return i + 1
    }
  }
  return undefined
}

const [quote, backslash, open, close] = [0x22, 0x5c, 0x7b, 0x7d]

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
