import type { ContentBlock as WireBlock } from '@agentclientprotocol/sdk'
import type { ContentBlock } from '@offshoot/session'

/**
 * A prompt as the agent is asked it: text and files as they are, embedded text with its address, a link as its address.
 *
 * @throws {Error} for what no model could be given.
 */
export function promptOf(blocks: readonly WireBlock[]): ContentBlock[] {
  return blocks.map((block): ContentBlock => {
    switch (block.type) {
      case 'text':
        return { type: 'text', text: block.text }
      case 'image':
        return { type: 'file', data: block.data, mediaType: block.mimeType }
      case 'resource_link':
        return { type: 'text', text: `[${block.title ?? block.name}](${block.uri})` }
      case 'resource': {
        const { resource } = block
        if ('text' in resource) return { type: 'text', text: `<resource uri=${JSON.stringify(resource.uri)}>\n${resource.text}\n</resource>` }
        return { type: 'file', data: resource.blob, mediaType: resource.mimeType ?? 'application/octet-stream', filename: resource.uri }
      }
      case 'audio':
        throw new Error('audio is not taken; send text, images or resources')
    }
  })
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
