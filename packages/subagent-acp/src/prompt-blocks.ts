import type { ContentBlock as WireBlock } from '@agentclientprotocol/sdk/unstable'
import { promptBlocks, type Prompt } from '@offshoot/session'
import type { AcpSession } from './handshake.ts'

/**
 * A task as the wire has it.
 *
 * @throws {Error} for a file that the agent does not take.
 */
export function wirePrompt(prompt: Prompt, { image, embeddedContext }: AcpSession['accepts']): WireBlock[] {
  return promptBlocks(prompt).flatMap((block): WireBlock[] => {
    switch (block.type) {
      case 'text':
        return [{ type: 'text', text: block.text }]
      case 'reasoning':
        return []
      case 'file': {
        const { data, mediaType: mimeType, filename } = block
        const name = filename ?? 'file'
        if (/^https?:/.test(data)) return [{ type: 'resource_link', uri: data, name, mimeType }]
        if (mimeType.startsWith('image/') && image) return [{ type: 'image', data, mimeType }]
        if (embeddedContext) return [{ type: 'resource', resource: { uri: `file:///${encodeURIComponent(name)}`, mimeType, blob: data } }]
        throw new Error(`the agent takes no ${mimeType} in a prompt; leave the file out, or give its path in words`)
      }
    }
  })
}
