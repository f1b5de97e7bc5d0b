// Has `offshoot acp` answer once, and keeps what V8 compiled for that beside its file: the next one starts with it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { root } from './workspace.mjs'

/** @type {typeof import('../packages/cli/src/carried.ts')} */
const { Carried } = await import(pathToFileURL(join(root, 'packages', 'cli', 'lib', 'carried.js')).href)
const carried = new Carried()
const { command } = carried
if (!command) throw new Error('the command was not put together')

/** An endpoint whose model says one word. */
const endpoint = createServer((request, response) => {
  const chunk = (/** @type {object} */ delta, /** @type {string | null} */ finish_reason) => `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${chunk({ role: 'assistant', content: 'Hello.' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`)
  })
})
await new Promise(resolve => { endpoint.listen(0, '127.0.0.1', () => resolve(undefined)) })
const { port } = /** @type {import('node:net').AddressInfo} */ (endpoint.address())

// One of each plugin that most apps have.
const app = `
- name: '@offshoot/runtime'
  config: { agent: { model: main } }
- name: '@offshoot/model-ai-sdk'
  config: { baseURL: 'http://127.0.0.1:${port}/v1', model: m, name: other }
- name: '@offshoot/model-scripted'
  config: { name: main, rules: [{ reply: Hello. }] }
- name: '@offshoot/tool-files'
- name: '@offshoot/tool-shell'
- name: '@offshoot/tool-subagent'
  config: { provider: spawn, toolName: research }
`

const folder = mkdtempSync(join(tmpdir(), 'offshoot-compile-'))
try {
  writeFileSync(join(folder, 'cordis.yml'), app)
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const ended = command.main(['acp', '-c', join(folder, 'cordis.yml')], { stdin, stdout, stderr: process.stderr, on() {}, off() {}, exit() {} })
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  let id = 0
  /** @param {string} method @param {object} params @returns {Promise<Record<string, string>>} */
  const request = async (method, params) => {
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`)
    for (;;) {
      const { value, done } = await lines.next()
      if (done) throw new Error(`it ended at ${method}`)
      const message = JSON.parse(value)
      if (message.id !== id) continue
      if (message.error) throw new Error(`${method}: ${JSON.stringify(message.error)}`)
      return message.result
    }
  }
  await request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  const { sessionId } = await request('session/new', { cwd: folder, mcpServers: [] })
  const prompt = [{ type: 'text', text: 'Hello.' }]
  await request('session/prompt', { sessionId, prompt })
  await request('session/set_config_option', { sessionId, configId: 'model', value: 'other' })
  await request('session/prompt', { sessionId, prompt })
  carried.keepCompiled()
  stdin.end()
  await ended
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)
