import type { ContentBlock as WireBlock, SessionUpdate } from '@agentclientprotocol/sdk'
import type { Agent, AgentEvent } from '@offshoot/agent'
import { wireBlocks } from './content.ts'
import { describeCall } from './tool-call.ts'

/** Sends an update, in the order of the calls. */
export type Send = (update: SessionUpdate) => void

/** Tells a client what an agent does, as it does it. */
export class AgentUpdates {
  private readonly agent: Agent
  private readonly send: Send
  private message = 0

  constructor(agent: Agent, send: Send) {
    this.agent = agent
    this.send = send
  }

  heard(event: AgentEvent): void {
    switch (event.type) {
      case 'step-start':
        this.message++
        break
      case 'text-delta':
        this.send({ sessionUpdate: 'agent_message_chunk', messageId: `${this.agent.id}-${this.message}`, content: { type: 'text', text: event.text } })
        break
      case 'reasoning-delta':
        this.send({ sessionUpdate: 'agent_thought_chunk', messageId: `${this.agent.id}-${this.message}`, content: { type: 'text', text: event.text } })
        break
      case 'tool-start': {
        const { callId: toolCallId, name, args = {} } = event
        this.send({ sessionUpdate: 'tool_call', toolCallId, status: 'in_progress', rawInput: args, ...describeCall(name, args, this.agent.tools.get(name), this.agent.cwd) })
        break
      }
      case 'tool-progress':
        this.send({ sessionUpdate: 'tool_call_update', toolCallId: event.callId, content: [textContent(event.update)] })
        break
      case 'tool-end': {
        const { callId: toolCallId, result: { content, isError } } = event
        const blocks = wireBlocks(content)
        this.send({
          sessionUpdate: 'tool_call_update', toolCallId, status: isError ? 'failed' : 'completed',
          ...isError || !this.isChange(event.name) ? { content: blocks.map(block => ({ type: 'content' as const, content: block })) } : {},
        })
        break
      }
      case 'turn-start':
      case 'rate-limit':
      case 'turn-end':
    }
  }

  /** A change was shown as a diff when it began; its result says no more than that it was made. */
  private isChange(name: string): boolean {
    return this.agent.tools.get(name)?.effect === 'write'
  }
}

export function textContent(text: string): { type: 'content', content: WireBlock } {
  return { type: 'content', content: { type: 'text', text } }
}
