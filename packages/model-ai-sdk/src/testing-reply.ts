import type { ServerResponse } from 'node:http'
import type { RecordedRequest, Reply } from './testing.ts'

/** Write `reply` as the endpoint's answer. It stops quietly when the client hangs up. */
export async function sendReply(request: RecordedRequest, index: number, response: ServerResponse, reply: Reply): Promise<void> {
  const status = reply.status ?? 200
  await Promise.race([reply.hold, request.closed])
  if (response.destroyed) return
  if (status !== 200) {
    response.writeHead(status, { 'content-type': 'application/json', ...reply.headers })
    response.end(reply.error === undefined ? pieces(reply.text).join('') : JSON.stringify(errorBody(reply.error)))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...reply.headers })
  let first = true
  for (const chunk of chunks(request, index, reply)) {
    if (response.destroyed) return
    await new Promise<void>((resolve) => { response.write(`data: ${chunk}\n\n`, () => { resolve() }) })
    if (!first) continue
    first = false
    await Promise.race([reply.holdAfter, request.closed])
    // With an error, so that it is told apart from a client that hung up.
    if (reply.cutOff) response.destroy(new Error('cut off'))
  }
  if (!response.destroyed) response.end()
}

function* chunks(request: RecordedRequest, index: number, reply: Reply): Generator<string> {
  const envelope = { id: `chatcmpl-${index}`, object: 'chat.completion.chunk', created: 0, model: request.body.model }
  const choice = (delta: object, reason: string | null = null): string =>
    JSON.stringify({ ...envelope, choices: [{ index: 0, delta, finish_reason: reason }] })

  const deltas = [...contentDeltas(reply), ...callDeltas(index, reply)]
  const [first = {}, ...rest] = deltas
  yield choice({ role: 'assistant', ...first })
  for (const delta of rest) yield choice(delta)
  if (reply.error !== undefined) yield JSON.stringify(errorBody(reply.error))
  if (reply.noFinish || reply.error !== undefined) return
  yield choice({}, reply.finishReason ?? (reply.calls?.length ? 'tool_calls' : 'stop'))
  const usage = reply.usage === undefined ? { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } : reply.usage
  if (usage !== null) yield JSON.stringify({ ...envelope, choices: [], usage })
  yield '[DONE]'
}

function contentDeltas({ reasoning, text }: Reply): object[] {
  return [...(reasoning === undefined ? [] : [{ reasoning_content: reasoning }]), ...pieces(text).map(content => ({ content }))]
}

/** Each call in two pieces, as endpoints stream them. */
function callDeltas(index: number, { calls = [] }: Reply): object[] {
  return calls.flatMap((call, position) => {
    const args = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
    const half = Math.floor(args.length / 2)
    const head = {
      index: position, id: call.id ?? `call_${index}_${position}`, type: 'function',
      function: { name: call.name, arguments: args.slice(0, half) },
      ...(call.extraContent ? { extra_content: call.extraContent } : {}),
    }
    return [head, { index: position, function: { arguments: args.slice(half) } }].map(piece => ({ tool_calls: [piece] }))
  })
}

function pieces(text: Reply['text'] = []): readonly string[] {
  return typeof text === 'string' ? [text] : text
}

function errorBody(error: object | string): object {
  return typeof error === 'string' ? { error: { message: error } } : error
}
