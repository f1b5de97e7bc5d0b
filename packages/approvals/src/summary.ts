const maxCharacters = 300

// oxlint-disable-next-line no-control-regex -- what a model writes goes to a terminal
const unprintable = /[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2066-\u2069]+/g

/** What a call wants to do, in one line for people: what its arguments hold, without anything that a terminal would obey. */
export function summaryOf(args: Readonly<Record<string, unknown>>): string {
  const values = Object.values(args).filter(value => typeof value === 'string' || typeof value === 'number')
  const text = values.join(' ').replaceAll(unprintable, ' ').replace(/ {2,}/g, ' ').trim()
  const characters = [...text]
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters - 1).join('')}…` : text
}
