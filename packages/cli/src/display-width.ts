import stringWidth from 'string-width'

const characters = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** `text` in at most `columns` columns of a terminal; what is cut off shows as `…`. */
export function cutToWidth(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text
  let cut = ''
  let width = 0
  for (const { segment } of characters.segment(text)) {
    width += stringWidth(segment)
    if (width > columns - 1) break
    cut += segment
  }
  return columns < 1 ? '' : `${cut}…`
}

/** How many rows a line takes where it wraps at `columns`. A wide character does not stand in two rows. */
export function rowsOf(line: string, columns: number): number {
  let rows = 1
  let column = 0
  for (const { segment } of characters.segment(line)) {
    const width = stringWidth(segment)
    if (column + width > columns) {
      rows++
      column = 0
    }
    column += width
  }
  return rows
}
