import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { chat } from './chat.mjs'
import { gemini } from './gemini.mjs'
import { messages } from './messages.mjs'
import { fields, tokens } from './protocol.mjs'
import { responses } from './responses.mjs'
import { decide } from './script.mjs'

/** @typedef {Awaited<ReturnType<typeof startModel>>} LoopbackModel */

const protocols = [chat, responses, messages, gemini]

/** What clients ask beside answers. @type {[RegExp, object][]} */
const aside = [
  [/\/count_tokens$/, { input_tokens: tokens.input }],
  [/:countTokens$/, { totalTokens: tokens.input }],
  [/\/models$/, { object: 'list', data: [{ id: 'fake-model', object: 'model' }], models: [{ name: 'models/fake-model', slug: 'fake-model' }] }],
]

/**
 * A model on 127.0.0.1 that speaks four protocols, and does what the first word of its prompt says: `prompts` in script.mjs.
 * Whoever starts it closes it.
 */
export async function startModel() {
  let ticks = 0
  let cut = 0
  const server = createServer((request, response) => {
    // What cannot be served is the client's to see.
    serve(request, response, () => { ticks++ }, () => { cut++ }).catch(error => { response.destroy(error) })
  })
  await new Promise(resolve => { server.listen(0, '127.0.0.1', () => resolve(undefined)) })
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${port}`,
    /** Pieces of slow answers that were sent so far, in all. */
    get ticks() { return ticks },
    /** Slow answers whose client left before their end, in all. */
    get cut() { return cut },
    /** Cuts what is under way. */
    close() {
      const closed = new Promise(resolve => { server.close(resolve) })
      server.closeAllConnections()
      return closed
    },
  }
}

/** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response @param {() => void} ticked @param {() => void} left */
async function serve(request, response, ticked, left) {
  const path = (request.url ?? '').split('?')[0] ?? ''
  const answer = (/** @type {number} */ status, /** @type {object} */ body) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const [, known] = aside.find(([pattern]) => pattern.test(path)) ?? []
  if (known) return answer(200, known)
  const protocol = protocols.find(each => each.path.test(path))
  if (!protocol) return answer(404, { error: { message: `nothing is at ${path}`, type: 'not_found_error' } })

  const body = fields(await json(request))
  const next = decide(protocol.read(body))
  if (next.do === 'fail') return answer(next.status, { error: { message: next.message, type: 'invalid_request_error', code: 'refused' } })
  if (!protocol.isStreamed(body, path)) return answer(200, protocol.whole(next.do === 'say' ? next.chunks.join('') : '', body))

  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  const writer = protocol.stream((data, event) => {
    response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
  }, body)
  writer.begin()
  if (next.do === 'run') writer.run(next.tool, next.args)
  else {
    for (const chunk of next.chunks) {
      if (response.destroyed) return left()
      writer.say(chunk)
      if (next.slow) ticked()
      if (next.pauseMs > 0) await setTimeout(next.pauseMs)
    }
  }
  writer.end()
  response.end()
}
