import { list, newId, strings, textsOf, tokens } from './protocol.mjs'

const usage = {
  input_tokens: tokens.input, input_tokens_details: { cached_tokens: 0 },
  output_tokens: tokens.output, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: tokens.input + tokens.output,
}

/** OpenAI's responses. @type {import('./protocol.mjs').Protocol} */
export const responses = {
  path: /\/responses$/,
  isStreamed: ({ stream }) => stream === true,
  read: ({ input, tools }) => ({
    messages: typeof input === 'string' ? [{ from: 'user', texts: [input] }] : list(input).map(messageOf),
    tools: strings(list(tools).map(({ name, type }) => name ?? type)),
  }),
  whole: (text, { model }) => ({ ...response(model), status: 'completed', output: [message(newId('msg'), text)], usage }),
  stream(send, { model }) {
    const head = response(model)
    const id = newId('item')
    /** @type {object[]} */
    const output = []
    let text = ''
    const event = (/** @type {string} */ type, /** @type {object} */ data) => send({ type, ...data }, type)
    const open = () => {
      event('response.output_item.added', { output_index: 0, item: { ...message(id, ''), status: 'in_progress', content: [] } })
      event('response.content_part.added', { output_index: 0, content_index: 0, item_id: id, part: { type: 'output_text', text: '', annotations: [] } })
    }
    const close = (/** @type {object} */ item) => {
      output.push(item)
      event('response.output_item.done', { output_index: 0, item })
    }
    return {
      begin: () => event('response.created', { response: { ...head, status: 'in_progress' } }),
      say(delta) {
        if (text === '') open()
        text += delta
        event('response.output_text.delta', { output_index: 0, content_index: 0, item_id: id, delta })
      },
      run(name, args) {
        const item = { type: 'function_call', id, call_id: newId('call'), name, arguments: JSON.stringify(args), status: 'completed' }
        event('response.output_item.added', { output_index: 0, item: { ...item, arguments: '', status: 'in_progress' } })
        event('response.function_call_arguments.done', { output_index: 0, item_id: id, arguments: item.arguments })
        close(item)
      },
      end() {
        if (text !== '') {
          event('response.output_text.done', { output_index: 0, content_index: 0, item_id: id, text })
          close(message(id, text))
        }
        event('response.completed', { response: { ...head, status: 'completed', output, usage } })
      },
    }
  },
}

/** @param {import('./protocol.mjs').Json} item @returns {import('./script.mjs').Message} */
function messageOf({ type, role, content }) {
  if (type === 'function_call_output') return { from: 'tool', texts: [] }
  return { from: role === 'user' ? 'user' : role === 'assistant' || type === 'function_call' ? 'agent' : 'other', texts: textsOf(content) }
}

/** @param {unknown} model */
function response(model) {
  return { id: newId('resp'), object: 'response', created_at: 1, model, output: [] }
}

/** @param {string} id @param {string} text */
function message(id, text) {
  return { type: 'message', id, role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] }
}
