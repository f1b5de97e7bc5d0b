import type { Entry } from './types.ts'

const maxCharacters = 80

/** The first words of a conversation's user, in one line of at most 80 characters; what the runtime told the agent is none of them. */
export function titleOf(entries: Iterable<Entry | undefined>): string | undefined {
  for (const entry of entries) {
    if (entry?.message?.role !== 'user' || entry.source !== undefined) continue
    const text = entry.message.content.map(part => part.type === 'text' ? part.text : '').join(' ').replace(/\s+/g, ' ').trim()
    return text === '' ? undefined : [...text].slice(0, maxCharacters).join('')
  }
  return undefined
}
