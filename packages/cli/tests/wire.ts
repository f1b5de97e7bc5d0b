import { messagesOf, type RecordedRequest, type Reply } from '@offshoot/model-ai-sdk/testing'

export { type Gate, gate } from '../../../tests/gate.ts'

export function lastMessageText(request: RecordedRequest): string {
  return messagesOf(request).at(-1)!.content as string
}

/** Answer by what the last message says, or else with `otherwise`. */
export function onWire(request: RecordedRequest, replies: Record<string, Reply>, otherwise?: Reply): Reply {
  const reply = replies[lastMessageText(request)] ?? otherwise
  if (!reply) throw new Error(`no reply to "${lastMessageText(request)}"`)
  return reply
}

/** Call the tool `research` for a child with this prompt, in the background. */
export function inBackground(description: string, prompt: string): { name: string, arguments: object } {
  return { name: 'research', arguments: { description, prompt, run_in_background: true } }
}

/** What is told of tasks in a request's last message: `subagent-1 completed: the text`. */
export function noticesOf(request: RecordedRequest): string[] {
  const notices = lastMessageText(request).matchAll(/<task-notice task="(.+?)" status="(.+?)">([^]*?)<\/task-notice>/g)
  return [...notices].map(([, id, status, text]) => `${id} ${status}: ${text}`)
}

/** Everything that `pattern` matches in what the request tells its model, each once. */
export function saidIn(request: RecordedRequest, pattern: RegExp): string[] {
  return [...new Set(JSON.stringify(messagesOf(request)).match(pattern))]
}
