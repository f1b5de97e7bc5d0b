import type { ContentBlock, Prompt } from './types.ts'

/** The text of `blocks`, alone. Neighbouring text blocks are one text: a model may split it anywhere. */
export function textOf(blocks: readonly ContentBlock[]): string {
  let text = ''
  for (const block of blocks) if (block.type === 'text') text += block.text
  return text
}

/** A prompt as frozen blocks. */
export function promptBlocks(prompt: Prompt): readonly ContentBlock[] {
  if (typeof prompt === 'string') return Object.freeze([Object.freeze({ type: 'text' as const, text: prompt })])
  return Object.freeze(prompt.map(block => Object.isFrozen(block) ? block : Object.freeze({ ...block })))
}
