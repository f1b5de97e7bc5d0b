const maxCharacters = 300

/** Controls, what is not seen, halves of characters, and ends of lines: what a model writes goes to a terminal. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu

/** What a call wants to do, in one line for people: what its arguments hold, without anything that a terminal would obey. */
export function summaryOf(args: Readonly<Record<string, unknown>>): string {
  const values = Object.values(args).filter(value => typeof value === 'string' || typeof value === 'number')
  const text = values.join(' ').replaceAll(unprintable, ' ').replace(/ {2,}/g, ' ').trim()
  // A character is two units at most: what is beyond them is not shown, however long.
  const characters = [...text.slice(0, 2 * maxCharacters + 1)]
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters - 1).join('')}…` : text
}
