import { messagesOf, type RecordedRequest, type Reply } from '@offshoot/model-ai-sdk/testing'

export function lastMessageText(request: RecordedRequest): string {
  return messagesOf(request).at(-1)!.content as string
}

/** Answer by what the last message says. */
export function onWire(request: RecordedRequest, replies: Record<string, Reply>): Reply {
  const reply = replies[lastMessageText(request)]
  if (!reply) throw new Error(`no reply to "${lastMessageText(request)}"`)
  return reply
}
