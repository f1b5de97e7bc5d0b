import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk/unstable'
import { fakeModel } from '@offshoot/model/testing'
import * as runtime from '@offshoot/runtime'
import * as toolFiles from '@offshoot/tool-files'
import { Context } from 'cordis'
import { PassThrough, Readable, Writable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { type AcpHost, serveAcp } from '../src/index.ts'

type Updates = { readonly sessionUpdate: string, readonly [key: string]: unknown }[]

/** A client of the SDK on the other end of a serving. */
function connect(boot: () => Promise<AcpHost>, output = new PassThrough(), read: Readable = output) {
  const input = new PassThrough()
  const updates: Updates = []
  const served = serveAcp({ input, output, boot, version: '1.2.3' })
  const connection = client({ name: 'test' })
    .onNotification(methods.client.session.update, async ({ params }) => {
      // As libraries pass it on, from one to the next.
      for (let hop = 0; hop < 10; hop++) await Promise.resolve()
      updates.push(params.update)
    })
    .connect(ndJsonStream(Writable.toWeb(input), Readable.toWeb(read) as ReadableStream<Uint8Array>))
  onTestFinished(() => { connection.close() })
  return { agent: connection.agent, updates, served, end: () => { input.end() } }
}

/** What comes out of `output`, as a busy process reads it from a pipe: all that has gathered at once. */
function gathered(output: Readable): Readable {
  let waiting: Buffer[] = []
  const read = new PassThrough()
  output.on('data', (chunk: Buffer) => {
    if (waiting.push(chunk) > 1) return
    setImmediate(() => {
      read.write(Buffer.concat(waiting))
      waiting = []
    })
  })
  return read
}

async function appWith(reply: Parameters<typeof fakeModel>[0]): Promise<AcpHost> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(runtime, {})
  await ctx.plugin(toolFiles, {})
  ctx.models.register('main', fakeModel(reply))
  return { ctx, dispose: () => ctx.fiber.dispose() }
}

it('answers initialize before the app is asked for, and boots it once', async () => {
  let booted = 0
  const { agent } = connect(() => {
    booted++
    return Promise.reject(new Error('the config is broken'))
  })
  const hello = await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  expect(hello).toMatchObject({ protocolVersion: 1, agentInfo: { name: 'offshoot', version: '1.2.3' } })
  for (let i = 0; i < 2; i++) await expect(agent.request('session/new', { cwd: '/', mcpServers: [] })).rejects.toMatchObject({ code: -32603, message: expect.stringContaining('the config is broken') })
  expect(booted).toBe(1)
})

it('serves a turn over any two streams, and settles when the input ends', async () => {
  const host = await appWith(() => 'hello')
  const { agent, updates, served, end } = connect(() => Promise.resolve(host))
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  const { sessionId } = await agent.request('session/new', { cwd: '/', mcpServers: [] })
  expect(await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Hi.' }] })).toMatchObject({ stopReason: 'end_turn' })
  expect(updates).toMatchObject([{ sessionUpdate: 'session_info_update', title: 'Hi.' }, { sessionUpdate: 'agent_message_chunk', content: { text: 'hello' } }])
  end()
  await served
  expect(host.ctx.agents.list()).toEqual([])
})

it('takes the depth that a host passes in _meta', async () => {
  const host = await appWith(() => 'hello')
  const { agent } = connect(() => Promise.resolve(host))
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  await agent.request('session/new', { cwd: '/', mcpServers: [], _meta: { offshoot: { depth: 2, maxDepth: 3 } } })
  expect(host.ctx.agents.list()).toMatchObject([{ depth: 2, maxDepth: 3 }])
})

it('has said everything when it answers, also to a client that hears updates and answers on different ways', async () => {
  const words = Array.from({ length: 200 }, (_, index) => `${index} `)
  const host = await appWith(() => ({ parts: [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 't' },
    ...words.map(delta => ({ type: 'text-delta' as const, id: 't', delta })),
    { type: 'text-end', id: 't' },
    { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } } },
  ] }))
  const output = new PassThrough()
  const { agent, updates } = connect(() => Promise.resolve(host), output, gathered(output))
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  const { sessionId } = await agent.request('session/new', { cwd: '/', mcpServers: [] })
  await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Count.' }] })
  expect(updates.flatMap(({ content }) => (content as { text?: string } | undefined)?.text ?? []).join('')).toBe(words.join(''))
})
