// The protocol's SDK before 2.0: editors of that time speak so.
import { spawn } from 'node:child_process'
import { Readable, Writable } from 'node:stream'
import { choice, drive, library, onCancel, say, task } from './protocol.mjs'

const { ClientSideConnection, ndJsonStream, PROTOCOL_VERSION } = await library('@agentclientprotocol/sdk')

await drive(async () => {
  const agent = spawn(task.command, task.args, { cwd: task.cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  const client = {
    requestPermission: choice,
    /** @param {{ update: { sessionUpdate: string, content?: { text?: string } } }} params */
    sessionUpdate({ update }) {
      if (update.sessionUpdate === 'agent_message_chunk') say({ event: 'text', text: update.content?.text ?? '' })
    },
  }
  const connection = new ClientSideConnection(() => client, ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)))
  await connection.initialize({ protocolVersion: PROTOCOL_VERSION, clientCapabilities: { fs: { readTextFile: false, writeTextFile: false } } })
  const place = { cwd: task.cwd, mcpServers: [] }
  if (task.load !== undefined) await connection.loadSession({ sessionId: task.load, ...place })
  const sessionId = task.load ?? (await connection.newSession(place)).sessionId
  say({ event: 'session', id: sessionId })
  onCancel(() => connection.cancel({ sessionId }))
  const { stopReason } = await connection.prompt({ sessionId, prompt: [{ type: 'text', text: task.prompt }] })
  say({ event: 'end', reason: stopReason })
  agent.stdin.end()
  await new Promise(resolve => { agent.once('exit', resolve) })
})
