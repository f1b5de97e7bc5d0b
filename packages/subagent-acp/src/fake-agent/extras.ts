/** How a turn speaks to the client. */
export interface Voice {
  readonly sessionId: string
  update(update: Readonly<Record<string, unknown>>): void
  notify(method: string, params: unknown): void
  /** Send a request and wait for its answer. */
  ask(method: string, params: unknown): Promise<{ readonly result?: unknown, readonly error?: unknown }>
}

/** What the agent can write before its answer that is no part of it, or is written in an unusual way. */
export const extras = {
  'thought': turn => turn.update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'a thought, not an answer' } }),
  'user-message': turn => turn.update({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'the user said this' } }),
  'plan': turn => turn.update({ sessionUpdate: 'plan', entries: [{ content: 'Think', priority: 'high', status: 'pending' }] }),
  'commands': turn => turn.update({ sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'help', description: 'Helps' }] }),
  'session-info': turn => turn.update({ sessionUpdate: 'session_info_update', title: 'A title' }),
  'unknown-update': turn => turn.update({ sessionUpdate: 'weather_update', sky: 'clear' }),
  'unknown-content': turn => turn.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'hologram', data: 'AAAA' } }),
  'no-content': turn => turn.update({ sessionUpdate: 'agent_message_chunk' }),
  'image': turn => turn.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'image', mimeType: 'image/png', data: 'AAAA' } }),
  'no-update': turn => { turn.notify('session/update', { sessionId: turn.sessionId }) },
  'other-session': turn => {
    turn.notify('session/update', {
      sessionId: 'no-such-session',
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'for another session' } },
    })
  },
  /** As codex-acp says that its turn failed, which it then ends as if it had not. */
  'system-error': turn => turn.update({ sessionUpdate: 'session_info_update', _meta: { codex: { threadStatus: { type: 'systemError' } } } }),
  'vendor-notification': turn => { turn.notify('_fake/status', { mood: 'good' }) },
  /** It waits for the answer: a client that owes one hangs it. */
  'vendor-request': async turn => { await turn.ask('fake/drain', {}) },
  'update-before-tool': turn => {
    turn.update({ sessionUpdate: 'tool_call_update', toolCallId: 'early', status: 'in_progress' })
    turn.update({ sessionUpdate: 'tool_call', toolCallId: 'early', title: 'Came second', kind: 'read', status: 'completed' })
  },
  'null-fields': turn => {
    turn.update({ sessionUpdate: 'tool_call', toolCallId: 'nulls', title: 'Keeps its title', kind: 'read', status: 'in_progress' })
    turn.update({ sessionUpdate: 'tool_call_update', toolCallId: 'nulls', title: null, kind: null, status: 'completed', content: null, locations: null, rawInput: null })
  },
} as const satisfies Record<string, (turn: Voice) => void | Promise<void>>

export type Extra = keyof typeof extras

export const extraNames = Object.keys(extras) as readonly Extra[]
