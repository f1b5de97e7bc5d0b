import { list, strings, textsOf, tokens } from './protocol.mjs'

const usageMetadata = { promptTokenCount: tokens.input, candidatesTokenCount: tokens.output, totalTokenCount: tokens.input + tokens.output }

/** Google's generateContent. @type {import('./protocol.mjs').Protocol} */
export const gemini = {
  path: /:(?:streamG|g)enerateContent$/,
  isStreamed: (_body, path) => path.endsWith(':streamGenerateContent'),
  read: ({ contents, tools }) => ({
    messages: list(contents).map(({ role, parts }) => ({
      from: role === 'model' ? 'agent' : list(parts).some(part => 'functionResponse' in part) ? 'tool' : 'user',
      texts: textsOf(parts),
    })),
    tools: strings(list(tools).flatMap(tool => list(tool['functionDeclarations']).map(({ name }) => name))),
  }),
  whole: text => last([{ text }]),
  stream(send) {
    let parts = [/** @type {object} */ ({ text: '' })]
    return {
      begin() {},
      say: text => send(candidate([{ text }])),
      run(name, args) { parts = [{ functionCall: { name, args } }] },
      end: () => send(last(parts)),
    }
  },
}

/** @param {object[]} parts @param {object} [more] */
function candidate(parts, more) {
  return { candidates: [{ content: { role: 'model', parts }, index: 0, ...more }] }
}

/** @param {object[]} parts */
function last(parts) {
  return { ...candidate(parts, { finishReason: 'STOP' }), usageMetadata }
}
