import { build } from 'esbuild'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import runBuild from '../scripts/build-for-tests.mjs'
import { root } from '../scripts/workspace.mjs'
import { ratioOf } from './ratio.ts'

const pairs = 25

/** An agent of the protocol's SDK that says what it is told, and does nothing else. */
const bareAgent = `
import { agent, ndJsonStream } from '@agentclientprotocol/sdk'
import { Readable, Writable } from 'node:stream'
const connection = agent({ name: 'bare' })
  .onRequest('initialize', () => ({ protocolVersion: 1, agentCapabilities: {} }))
  .onRequest('session/new', () => ({ sessionId: 'one' }))
  .onRequest('session/prompt', async ({ params: { sessionId, prompt }, client }) => {
    await client.notify('session/update', { sessionId, update: { sessionUpdate: 'agent_message_chunk', content: prompt[0] } })
    return { stopReason: 'end_turn' }
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
await connection.closed
process.exit(0)
`

const app = `
- name: '@offshoot/runtime'
- name: '@offshoot/model-scripted'
  config: { rules: [{ reply: Hello. }] }
- name: '@offshoot/tool-files'
- name: '@offshoot/tool-shell'
- name: '@offshoot/tool-subagent'
  config: { provider: spawn, toolName: research }
`

beforeAll(() => { runBuild() })

/** From nothing to the end of the first turn. */
async function firstAnswerMs(args: readonly string[], cwd: string): Promise<number> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let [id, said] = [0, '']
  const request = async (method: string, params: object): Promise<Record<string, unknown>> => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`)
    for (;;) {
      const { value, done } = await lines.next()
      assert.ok(!done, `${args.join(' ')} ended at ${method}`)
      const message = JSON.parse(String(value)) as { id?: number, result?: Record<string, unknown>, params?: { update?: { content?: { text?: string } } } }
      said += message.params?.update?.content?.text ?? ''
      if (message.id === id) return message.result ?? assert.fail(String(value))
    }
  }
  await request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  const { sessionId } = await request('session/new', { cwd, mcpServers: [] })
  await request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Hello.' }] })
  const tookMs = performance.now() - startedAt
  child.stdin.end()
  await once(child, 'exit')
  expect(said).toBe('Hello.')
  return tookMs
}

it('our agent answers first within 1.2 times what an agent takes that does nothing, bundled as ours is', { timeout: 120_000 }, async ({ annotate }) => {
  const folder = mkdtempSync(join(tmpdir(), 'offshoot-first-'))
  onTestFinished(() => { rmSync(folder, { recursive: true, force: true }) })
  const bare = join(folder, 'bare.mjs')
  await build({ stdin: { contents: bareAgent, resolveDir: join(root, 'packages', 'acp-agent') }, outfile: bare, bundle: true, minify: true, platform: 'node', format: 'esm', logLevel: 'error' })
  writeFileSync(join(folder, 'cordis.yml'), app)
  const ours = (): Promise<number> => firstAnswerMs([join(root, 'packages', 'cli', 'lib', 'bin.cjs'), 'acp'], folder)
  const theirs = (): Promise<number> => firstAnswerMs([bare], folder)
  const { median, says } = await ratioOf(pairs, ours, theirs)
  await annotate(says)
  expect(median).toBeLessThanOrEqual(1.2)
})
