/** Keys from the root of a config to a value in it. */
export type Path = readonly PropertyKey[]

/** `config key "a.b[0]"`, or the bare `key` for the whole value. */
export function formatPath(key: string, path: Path): string {
  return path.length ? `${key} key "${joinPath(path)}"` : key
}

export function joinPath(path: Path): string {
  return path.map((part, index) => typeof part === 'number' ? `[${part}]` : `${index ? '.' : ''}${String(part)}`).join('')
}

/** Whether one of the two leads to, or through, the other. */
export function overlaps(a: Path, b: Path): boolean {
  return a.slice(0, b.length).every((part, index) => part === b[index])
}
