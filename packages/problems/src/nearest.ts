/** Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`. */
function distance(a: string, b: string): number {
  let previous: number[] = []
  let current = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const beforePrevious = previous
    previous = current
    current = [i]
    for (let j = 1; j <= b.length; j++) {
      const replace = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      let best = Math.min(replace, previous[j]! + 1, current[j - 1]! + 1)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, beforePrevious[j - 2]! + 1)
      current.push(best)
    }
  }
  return current[b.length]!
}

/** The candidate that `name` was most likely meant to be, or `undefined` where none is close. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const candidate of candidates) {
    const d = distance(name.toLowerCase(), candidate.toLowerCase())
    if (d < bestDistance && d < name.length) [best, bestDistance] = [candidate, d]
  }
  return best
}

/**
 * The ending of an "unknown name" sentence: what was probably meant, and what there is.
 *
 * `kind` names the candidates, as in `known models: a, b`.
 */
export function suggest(name: string, candidates: Iterable<string>, kind: string): string {
  const known = [...candidates].sort()
  const near = nearest(name, known)
  return `${near === undefined ? '' : `; did you mean "${near}"?`} (${kind}: ${known.join(', ') || 'none'})`
}
