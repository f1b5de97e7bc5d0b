import type { ContentBlock, Message } from '@offshoot/session'

/** A frozen message of the user's role. */
export function userMessage(blocks: readonly ContentBlock[]): Message {
  // Reasoning is a model's own; a prompt that carries some is told as text.
  const content = blocks.map(block => block.type === 'reasoning' ? Object.freeze({ type: 'text' as const, text: block.text }) : block)
  return Object.freeze({ role: 'user' as const, content: Object.freeze(content) as unknown as typeof content })
}

export function textMessage(text: string): Message {
  return userMessage([Object.freeze({ type: 'text' as const, text })])
}
