import { drive, library, say, task } from './protocol.mjs'

const [{ createACPProvider }, { streamText }] = await Promise.all([library('@mcpc-tech/acp-ai-provider'), library('ai')])

await drive(async () => {
  const provider = createACPProvider({
    command: task.command, args: task.args, session: { cwd: task.cwd, mcpServers: [] },
    ...task.load === undefined ? {} : { existingSessionId: task.load },
  })
  try {
    say({ event: 'session', id: (await provider.initSession(provider.tools)).sessionId ?? task.load })
    const { fullStream } = streamText({ model: provider.languageModel(), prompt: task.prompt, tools: provider.tools, maxRetries: 0, onError() {} })
    for await (const part of fullStream) {
      if (part.type === 'text-delta') say({ event: 'text', text: part.text })
      else if (part.type === 'error') throw part.error
      else if (part.type === 'finish') say({ event: 'end', reason: part.finishReason })
    }
  } finally {
    provider.cleanup()
  }
})
