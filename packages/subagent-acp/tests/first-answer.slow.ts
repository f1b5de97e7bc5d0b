import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk/unstable'
import { textOf } from '@offshoot/session'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { fakeAgent } from '../src/testing.ts'
import { ratioOf } from '../../../tests/ratio.ts'
import { task } from './faults.ts'
import { startApp } from './support.ts'

const pairs = 15

/** From nothing to the answer, with the SDK's client alone. */
async function rawClient(): Promise<number> {
  const { command, args } = fakeAgent()
  const startedAt = performance.now()
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  let text = ''
  const connection = client({ name: 'raw' })
    .onNotification(methods.client.session.update, ({ params: { update } }) => { if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text') text += update.content.text })
    .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>))
  await connection.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  const { sessionId } = await connection.agent.request('session/new', { cwd: process.cwd(), mcpServers: [] })
  await connection.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: task }] })
  const tookMs = performance.now() - startedAt
  child.stdin.end()
  await once(child, 'exit')
  assert.equal(text, task)
  return tookMs
}

it('a child answers first within 1.1 times what the SDK\'s own client takes', { timeout: 120_000 }, async ({ annotate }) => {
  const app = await startApp()
  const ours = async (): Promise<number> => {
    const startedAt = performance.now()
    await using run = await app.start({ prompt: task })
    const { output } = await run.result
    const tookMs = performance.now() - startedAt
    expect(textOf(output)).toBe(task)
    return tookMs
  }
  const { median, says } = await ratioOf(pairs, ours, rawClient)
  await annotate(says)
  expect(median).toBeLessThanOrEqual(1.1)
})
