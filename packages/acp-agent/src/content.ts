import type { ContentBlock as WireBlock } from '@agentclientprotocol/sdk'
import { acceptsMedia, type LanguageModel } from '@offshoot/model'
import type { ContentBlock } from '@offshoot/session'

/**
 * A prompt as the agent is asked it: text and files as they are, embedded text with its address, a link as its address.
 *
 * @throws {Error} for what `model`, or any model, could not be given: once part of the conversation, it would fail each turn after it.
 */
export function promptOf(blocks: readonly WireBlock[], model: Pick<LanguageModel, 'accepts' | 'modelId'>): ContentBlock[] {
  const prompt = blocks.map(blockOf)
  for (const block of prompt) {
    if (block.type === 'file' && !acceptsMedia(model, block.mediaType)) throw new Error(`the model ${model.modelId} takes no ${block.mediaType}${model.accepts?.length ? ` (it takes ${model.accepts.join(', ')})` : ''}`)
  }
  return prompt
}

function blockOf(block: WireBlock): ContentBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
      return { type: 'file', data: block.data, mediaType: block.mimeType }
    case 'resource_link':
      return { type: 'text', text: `[${block.title ?? block.name}](${block.uri})` }
    case 'resource': {
      const { resource: { uri, mimeType, ...content } } = block
      const mediaType = mimeType ?? 'application/octet-stream'
      if ('text' in content) return embedded(uri, content.text)
      return isText(mediaType) ? embedded(uri, Buffer.from(content.blob, 'base64').toString('utf8')) : { type: 'file', data: content.blob, mediaType, filename: uri }
    }
    case 'audio':
      throw new Error('audio is not taken; send text, images or resources')
  }
}

function embedded(uri: string, text: string): ContentBlock {
  return { type: 'text', text: `<resource uri=${JSON.stringify(uri)}>\n${text}\n</resource>` }
}

function isText(mediaType: string): boolean {
  return /^(?:text\/|application\/(?:json|xml|yaml|toml|javascript)\b)|\+(?:json|xml)$/.test(mediaType)
}

/** Blocks as a client shows them; reasoning is shown elsewhere. */
export function wireBlocks(blocks: readonly ContentBlock[]): WireBlock[] {
  return blocks.flatMap((block): WireBlock[] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }]
    if (block.type !== 'file') return []
    if (/^https?:/.test(block.data)) return [{ type: 'resource_link', uri: block.data, name: block.filename ?? block.data, mimeType: block.mediaType }]
    if (block.mediaType.startsWith('image/')) return [{ type: 'image', data: block.data, mimeType: block.mediaType }]
    return [{ type: 'resource', resource: { uri: block.filename ?? 'file', mimeType: block.mediaType, blob: block.data } }]
  })
}
