import { startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AcpClient } from './acp-client.ts'
import { folderWith } from './support.ts'
import { gate, lastMessageText } from './wire.ts'

const config = `
- name: '@offshoot/runtime'
  config: { approvals: { execute: ask } }
- name: '@offshoot/model-ai-sdk'
  config: { baseURL: !!js process.env.OPENAI_BASE_URL, model: test-model }
- name: '@offshoot/tool-files'
- name: '@offshoot/tool-shell'
- name: '@offshoot/tool-subagent'
  config: { provider: spawn, toolName: research }
`

interface Served extends AsyncDisposable {
  readonly client: AcpClient
  readonly cwd: string
  /** What the model was asked last. */
  readonly asked: () => string
  readonly release: () => void
}

/** The real command over an endpoint whose model does what it is asked. */
async function serve(yaml = config, files: Record<string, string> = {}): Promise<Served> {
  const held = gate()
  let asked = ''
  const endpoint = await startEndpoint(request => {
    const last = asked = lastMessageText(request)
    const text = Array.isArray(last) ? JSON.stringify(last) : last
    if (text === 'Touch.') return { calls: [{ name: 'shell', arguments: { command: 'touch made' } }] }
    if (text === 'Write.') return { calls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'new' } }] }
    if (text === 'Delegate.') return { calls: [{ name: 'research', arguments: { description: 'look it up', prompt: 'Look.' } }] }
    if (text === 'Wait.') return { text: ['I ', 'wait'], holdAfter: held.opened }
    if (text === 'Think.') return { reasoning: 'Let me see.', text: 'I thought.' }
    if (text === 'Fail.') return { status: 400, error: 'no such model' }
    if (text === 'Cut.') return { text: 'It goes', finishReason: 'length' }
    return { text: `Heard: ${text}` }
  })
  const cwd = folderWith({ 'cordis.yml': yaml, ...files })
  const client = new AcpClient({ cwd, env: { OPENAI_BASE_URL: endpoint.baseURL } })
  return {
    client, cwd, asked: () => asked, release: () => { held.open() },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      await endpoint.close()
    },
  }
}

const kindsOf = (client: AcpClient): string[] => client.updates.map(({ sessionUpdate }) => sessionUpdate)

describe.concurrent('offshoot acp', () => {
  it('shakes hands in the version that both speak, before its app is there, also where that cannot be loaded', async () => {
    await using app = await serve('- name: \'@offshoot/runtime\'\n  config: { agnet: {} }\n')
    expect((await app.client.request('initialize', { protocolVersion: 7, clientCapabilities: {} })).result).toMatchObject({
      protocolVersion: 1, agentInfo: { name: 'offshoot' },
      agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true }, sessionCapabilities: { list: {}, resume: {}, close: {} } },
    })
    const { error } = await app.client.request('session/new', { cwd: app.cwd, mcpServers: [] })
    expect(JSON.stringify(error)).toContain('unknown config key \\"agnet\\"')
  })

  it('takes turn after turn of one conversation', async () => {
    await using app = await serve()
    const session = await app.client.open(app.cwd)
    expect((await app.client.prompt(session, 'One.')).result).toMatchObject({ stopReason: 'end_turn', usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 } })
    expect(app.client.text).toBe('Heard: One.')
    expect((await app.client.prompt(session, 'Think.')).result).toMatchObject({ stopReason: 'end_turn' })
    expect(kindsOf(app.client)).toContain('agent_thought_chunk')
    expect(app.client.text).toBe('Heard: One.I thought.')
  })

  it('sends all of its words before it answers', async () => {
    await using app = await serve()
    const session = await app.client.open(app.cwd)
    await app.client.prompt(session, 'a word '.repeat(300))
    expect(app.client.text).toContain('a word '.repeat(300).trim())
  })

  it('a cancel in flight ends the turn as cancelled, and the next one is as any', async () => {
    await using app = await serve()
    const session = await app.client.open(app.cwd)
    const answer = app.client.prompt(session, 'Wait.')
    await app.client.until(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
    expect((await app.client.prompt(session, 'At once.')).error).toMatchObject({ code: -32600 })
    app.client.notify('session/cancel', { sessionId: session })
    expect((await answer).result).toEqual({ stopReason: 'cancelled' })
    expect((await app.client.prompt(session, 'After.')).result).toMatchObject({ stopReason: 'end_turn' })
    app.client.notify('session/cancel', { sessionId: session })
    expect((await app.client.prompt(session, 'After an idle cancel.')).result).toMatchObject({ stopReason: 'end_turn' })
  })

  it('refuses what it cannot do, with the code that says why', async () => {
    await using app = await serve()
    await app.client.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
    const refused = [
      ['a relative folder', 'session/new', { cwd: 'here', mcpServers: [] }, -32602],
      ['no folder', 'session/new', { cwd: null, mcpServers: [] }, -32602],
      ['a folder that is not there', 'session/new', { cwd: '/no/such/folder', mcpServers: [] }, -32602],
      ['an MCP server', 'session/new', { cwd: '/', mcpServers: [{ name: 'docs', command: 'docs', args: [], env: [] }] }, -32602],
      ['an unknown session', 'session/prompt', { sessionId: 'nobody', prompt: [{ type: 'text', text: 'Hello.' }] }, -32002],
      ['an unknown session to load', 'session/load', { sessionId: '../../etc', cwd: '/', mcpServers: [] }, -32002],
      ['a prompt that is none', 'session/prompt', { sessionId: 'nobody', prompt: 'Hello.' }, -32602],
      ['an unknown method', 'session/dance', {}, -32601],
    ] as const
    for (const [what, method, params, code] of refused) expect({ what, ...(await app.client.request(method, params)).error }).toMatchObject({ what, code })
  })

  it('refuses an empty prompt, and reads every kind of block that it said it takes', async () => {
    await using app = await serve()
    const session = await app.client.open(app.cwd)
    expect((await app.client.prompt(session, '  ')).error).toMatchObject({ code: -32602 })
    const { result } = await app.client.request('session/prompt', { sessionId: session, prompt: [
      { type: 'text', text: 'Look:' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'inside' } },
      { type: 'resource_link', uri: 'file:///b.txt', name: 'b' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ] })
    expect(result).toMatchObject({ stopReason: 'end_turn' })
    const asked = JSON.stringify(app.asked())
    for (const part of ['Look:', 'inside', 'file:///b.txt', 'data:image/png;base64,AAAA']) expect(asked).toContain(part)
  })

  it('asks the client before a command runs: an allowed one runs, a rejected one does not', async () => {
    await using app = await serve()
    const session = await app.client.open(app.cwd)
    const seen: Record<string, unknown>[] = []
    let choice = 'reject-once'
    app.client.onAsk = (_method, params) => {
      seen.push(params)
      return { outcome: { outcome: 'selected', optionId: choice } }
    }
    expect((await app.client.prompt(session, 'Touch.')).result).toMatchObject({ stopReason: 'end_turn' })
    expect(existsSync(join(app.cwd, 'made'))).toBe(false)
    expect(app.client.text).toContain('the user did not allow this call of "shell"')
    choice = 'allow-once'
    await app.client.prompt(session, 'Touch.')
    expect(existsSync(join(app.cwd, 'made'))).toBe(true)
    expect(seen).toMatchObject([{ sessionId: session, toolCall: { title: 'shell: touch made', kind: 'execute', status: 'pending' } }, {}])
  })

  it('a cancel while the client is asked ends the turn', async () => {
    await using app = await serve()
    const session = await app.client.open(app.cwd)
    const asked = gate()
    app.client.onAsk = () => { asked.open(); return undefined }
    const answer = app.client.prompt(session, 'Touch.')
    await asked.opened
    app.client.notify('session/cancel', { sessionId: session })
    expect((await answer).result).toEqual({ stopReason: 'cancelled' })
    expect(existsSync(join(app.cwd, 'made'))).toBe(false)
  })

  it('shows a change as a diff, with its file, and a child as the progress of its call', async () => {
    await using app = await serve(config, { 'a.txt': 'old' })
    const session = await app.client.open(app.cwd)
    await app.client.prompt(session, 'Write.')
    const call = await app.client.until(({ sessionUpdate }) => sessionUpdate === 'tool_call')
    const path = join(app.cwd, 'a.txt')
    expect(call).toMatchObject({ kind: 'edit', status: 'in_progress', locations: [{ path }], content: [{ type: 'diff', path, oldText: 'old', newText: 'new' }] })
    await app.client.prompt(session, 'Delegate.')
    const delegation = await app.client.until(({ title }) => title === 'research: look it up')
    const progress = app.client.updates.filter(({ toolCallId }) => toolCallId === delegation['toolCallId']).map(({ content }) => JSON.stringify(content))
    expect(progress.join('\n')).toContain('run-1 \\"look it up\\": step 1')
  })

  it('tells a failure as one, and a cut answer as what it is', async () => {
    await using app = await serve()
    const session = await app.client.open(app.cwd)
    expect((await app.client.prompt(session, 'Fail.')).error).toMatchObject({ code: -32603, message: expect.stringContaining('no such model') })
    expect((await app.client.prompt(session, 'Cut.')).result).toMatchObject({ stopReason: 'max_tokens' })
  })

  it('lists, loads and resumes what was kept, also by another process; loading replays, resuming does not', async () => {
    const kept = config.replace('approvals: { execute: ask }', 'session: { dir: ./kept }')
    await using first = await serve(kept)
    const session = await first.client.open(first.cwd)
    await first.client.prompt(session, 'Remember me.')
    first.client.endInput()
    await first.client.exited
    expect(readFileSync(join(first.cwd, 'kept', `${session}.jsonl`), 'utf8')).toContain('Remember me.')
    await using endpoint = await startEndpoint(() => ({ text: 'again' }))
    await using second = new AcpClient({ cwd: first.cwd, env: { OPENAI_BASE_URL: endpoint.baseURL } })
    await second.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
    expect((await second.request('session/list', {})).result).toMatchObject({ sessions: [{ sessionId: session, cwd: first.cwd, title: 'Remember me.' }] })
    await second.request('session/load', { sessionId: session, cwd: first.cwd, mcpServers: [] })
    expect(second.updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual(['user_message_chunk', 'agent_message_chunk'])
    expect((await second.prompt(session, 'And now?')).result).toMatchObject({ stopReason: 'end_turn' })
    expect(JSON.stringify(endpoint.requests.at(-1)!.body.messages)).toContain('Remember me.')
    const before = second.updates.length
    await second.request('session/close', { sessionId: session })
    expect((await second.request('session/resume', { sessionId: session, cwd: first.cwd, mcpServers: [] })).result).toHaveProperty('configOptions')
    expect(second.updates).toHaveLength(before)
  })

  it('keeps stdout clean, whatever a plugin prints', async () => {
    await using app = await serve(`- name: ./prints.mjs${config}`, { 'prints.mjs': 'console.log("hello"); process.stdout.write("there\\n"); export function apply() { console.info("again") }\n' })
    const session = await app.client.open(app.cwd)
    await app.client.prompt(session, 'One.')
    expect(app.client.noise).toEqual([])
    expect(app.client.stderr).toContain('hello\nthere\nagain')
  })

  it('goes within two seconds of the end of its input, with its tools and children', async () => {
    await using app = await serve(config.replace('execute: ask', 'execute: allow'))
    const session = await app.client.open(app.cwd)
    void app.client.prompt(session, 'Wait.')
    await app.client.until(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
    const late = AbortSignal.timeout(2000)
    app.client.endInput()
    await app.client.exited
    expect(late.aborted).toBe(false)
  })

  it('switches the model of a session, and keeps the conversation', async () => {
    await using app = await serve(`${config}- name: '@offshoot/model-scripted'\n  config: { name: other, rules: [{ reply: 'the other one' }] }\n`.replace('runtime\'\n  config: {', 'runtime\'\n  config: { agent: { model: main },').replace('model: test-model', 'name: main, model: test-model'))
    const session = await app.client.open(app.cwd)
    await app.client.prompt(session, 'One.')
    const { result } = await app.client.request('session/set_config_option', { sessionId: session, configId: 'model', value: 'other' })
    expect(result).toMatchObject({ configOptions: [{ id: 'model', category: 'model', currentValue: 'other' }] })
    await app.client.prompt(session, 'Two.')
    expect(app.client.text).toBe('Heard: One.the other one')
    expect((await app.client.request('session/set_config_option', { sessionId: session, configId: 'model', value: 'nobody' })).error).toMatchObject({ code: -32602 })
  })
})

