export function duration(ms: number): string {
  return ms < 1000 ? `${ms} ms` : ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${Math.floor(ms % 60_000 / 1000)} s`
}

/** `text` on one line of at most `width` characters, without control characters: it comes from models and tools. */
export function oneLine(text: string, width = 100): string {
  // oxlint-disable-next-line no-control-regex -- terminal escapes are what is taken out
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
  const characters = [...line]
  return characters.length <= width ? line : `${characters.slice(0, width - 1).join('')}…`
}

export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`
}
