import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { Agent } from '@offshoot/agent'
import type { Entry } from '@offshoot/session'
import { describeCall } from './tool-call.ts'
import { textContent } from './updates.ts'

/** What a client is told of a conversation that it takes up again: all of it, in its order. */
export function* replay(agent: Agent): Generator<SessionUpdate> {
  for (const entry of agent.session.entries()) yield* updatesOf(entry, agent)
}

function* updatesOf({ message, source }: Entry, agent: Agent): Generator<SessionUpdate> {
  switch (message.role) {
    case 'user':
      // What the runtime itself told the agent, no user said.
      if (source !== undefined) return
      for (const part of message.content) {
        if (part.type === 'text') yield { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: part.text } }
        else if (typeof part.data === 'string' && part.mediaType.startsWith('image/') && !/^https?:/.test(part.data)) yield { sessionUpdate: 'user_message_chunk', content: { type: 'image', data: part.data, mimeType: part.mediaType } }
      }
      break
    case 'assistant':
      for (const part of message.content) {
        if (part.type === 'text') yield { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: part.text } }
        else if (part.type === 'reasoning') yield { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: part.text } }
        else if (part.type === 'tool-call') {
          const args = (part.input ?? {}) as Record<string, unknown>
          const { title, kind, locations } = describeCall(part.toolName, args, agent.tools.get(part.toolName), agent.cwd)
          yield { sessionUpdate: 'tool_call', toolCallId: part.toolCallId, title, kind, locations, status: 'in_progress', rawInput: args }
        }
      }
      break
    case 'tool':
      for (const part of message.content) {
        if (part.type !== 'tool-result') continue
        const { output } = part
        const text = output.type === 'text' || output.type === 'error-text' ? output.value : output.type === 'content' ? output.value.map(each => each.type === 'text' ? each.text : '').join('\n') : ''
        yield { sessionUpdate: 'tool_call_update', toolCallId: part.toolCallId, status: output.type === 'error-text' ? 'failed' : 'completed', content: text === '' ? [] : [textContent(text)] }
      }
      break
    case 'system':
  }
}
