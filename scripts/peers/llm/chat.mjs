import { fields, list, newId, strings, textsOf, tokens } from './protocol.mjs'

const from = /** @type {const} */ ({ user: 'user', assistant: 'agent', tool: 'tool' })
const usage = { prompt_tokens: tokens.input, completion_tokens: tokens.output, total_tokens: tokens.input + tokens.output }

/** OpenAI's chat completions. @type {import('./protocol.mjs').Protocol} */
export const chat = {
  path: /\/chat\/completions$/,
  isStreamed: ({ stream }) => stream === true,
  read: ({ messages, tools }) => ({
    messages: list(messages).map(({ role, content }) => ({ from: from[/** @type {keyof typeof from} */ (role)] ?? 'other', texts: textsOf(content) })),
    tools: strings(list(tools).map(tool => fields(tool['function'])['name'])),
  }),
  whole: (text, { model }) => ({
    id: newId('chat'), object: 'chat.completion', created: 1, model, usage,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  }),
  stream(send, { model }) {
    const head = { id: newId('chat'), object: 'chat.completion.chunk', created: 1, model }
    let reason = 'stop'
    const choice = (/** @type {object} */ delta, /** @type {string | null} */ finish = null) => send({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })
    return {
      begin: () => choice({ role: 'assistant', content: '' }),
      say: content => choice({ content }),
      run(name, args) {
        reason = 'tool_calls'
        choice({ tool_calls: [{ index: 0, id: newId('call'), type: 'function', function: { name, arguments: JSON.stringify(args) } }] })
      },
      end() {
        choice({}, reason)
        send({ ...head, choices: [], usage })
        send('[DONE]')
      },
    }
  },
}
