import { list, newId, strings, textsOf, tokens } from './protocol.mjs'

/** Anthropic's messages. @type {import('./protocol.mjs').Protocol} */
export const messages = {
  path: /\/messages$/,
  isStreamed: ({ stream }) => stream === true,
  read: body => ({
    messages: list(body['messages']).map(({ role, content }) => ({
      from: role === 'assistant' ? 'agent' : list(content).some(({ type }) => type === 'tool_result') ? 'tool' : 'user',
      texts: textsOf(content),
    })),
    tools: strings(list(body['tools']).map(({ name }) => name)),
  }),
  whole: (text, { model }) => ({
    ...message(model), content: [{ type: 'text', text }], stop_reason: 'end_turn',
    usage: { input_tokens: tokens.input, output_tokens: tokens.output },
  }),
  stream(send, { model }) {
    let reason = 'end_turn'
    let isOpen = false
    const event = (/** @type {string} */ type, /** @type {object} */ data = {}) => send({ type, ...data }, type)
    const open = (/** @type {object} */ block) => {
      isOpen = true
      event('content_block_start', { index: 0, content_block: block })
    }
    return {
      begin: () => event('message_start', { message: message(model) }),
      say(text) {
        if (!isOpen) open({ type: 'text', text: '' })
        event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
      },
      run(name, args) {
        reason = 'tool_use'
        open({ type: 'tool_use', id: newId('toolu'), name, input: {} })
        event('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: JSON.stringify(args) } })
      },
      end() {
        if (isOpen) event('content_block_stop', { index: 0 })
        event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: tokens.output } })
        event('message_stop')
      },
    }
  },
}

/** @param {unknown} model */
function message(model) {
  return {
    id: newId('msg'), type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null,
    usage: { input_tokens: tokens.input, output_tokens: 1 },
  }
}
