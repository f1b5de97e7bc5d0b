import { choice, drive, library, onCancel, say, task } from './protocol.mjs'

const { AgentFactory } = await library('acp-factory')

await drive(async () => {
  AgentFactory.register('offshoot', { command: task.command, args: task.args })
  const agent = await AgentFactory.spawn('offshoot', { permissionMode: 'callback', onPermissionRequest: async (/** @type {Parameters<typeof choice>[0]} */ request) => choice(request) })
  const session = task.load === undefined ? await agent.createSession(task.cwd) : await agent.loadSession(task.load, task.cwd)
  say({ event: 'session', id: session.id })
  onCancel(() => session.cancel())
  // What it ends with is the value that its generator returns, where it does.
  const updates = session.prompt(task.prompt)
  for (;;) {
    const { value, done } = await updates.next()
    if (done) {
      say({ event: 'end', reason: value?.stopReason ?? 'unsaid' })
      break
    }
    if (value.sessionUpdate === 'agent_message_chunk') say({ event: 'text', text: value.content.text ?? '' })
  }
  await agent.close()
})
