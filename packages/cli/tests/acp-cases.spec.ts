import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { config, type Served, serve } from './acp-served.ts'
import { gate } from './wire.ts'

let app: Served
/** What the agent asked its client. */
const asked: Record<string, unknown>[] = []

beforeAll(async () => { app = await serve(config.replace('execute: ask', 'read: ask, write: ask, execute: ask')) })
afterAll(() => app[Symbol.asyncDispose]())
afterEach(() => {
  app.client.updates.length = asked.length = 0
  app.client.onAsk = () => undefined
})

/** A session of its own for each case, in one process. */
async function begin(answer?: 'allow-once' | 'reject-once'): Promise<string> {
  app.client.onAsk = (_method, params) => {
    asked.push(params)
    return answer && { outcome: { outcome: 'selected', optionId: answer } }
  }
  return app.client.open(app.cwd)
}

const text = (...texts: string[]): object[] => texts.map(each => ({ type: 'text', text: each }))
const ended = { result: { stopReason: 'end_turn' } }
const cancelled = { result: { stopReason: 'cancelled' } }

/** What an agent of this protocol is held to, whoever made it. */
const cases: readonly (readonly [id: string, promise: string, run: () => Promise<void>])[] = [
  ['initialize', 'answers in the version that both speak, and says what it can do', async () => {
    for (const [offered, spoken] of [[1, 1], [7, 1], [0, 1]]) {
      expect((await app.client.request('initialize', { protocolVersion: offered, clientCapabilities: {} })).result).toMatchObject({
        protocolVersion: spoken, agentInfo: { name: 'offshoot' },
        agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true }, sessionCapabilities: { list: {}, resume: {}, close: {} } },
      })
    }
  }],
  ['session-new', 'gives each session an id of its own, its modes and its models', async () => {
    const [one, other] = [await begin(), await begin()]
    expect(one).not.toBe(other)
    const { result } = await app.client.request('session/new', { cwd: app.cwd, mcpServers: [] })
    expect(result).toMatchObject({ modes: { currentModeId: 'default' }, configOptions: [{ id: 'mode', category: 'mode' }, { id: 'model', category: 'model', currentValue: 'main' }] })
  }],
  ['single-turn', 'streams a text, and ends the turn', async () => {
    expect(await app.client.prompt(await begin(), 'One.')).toMatchObject({ result: { stopReason: 'end_turn', usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 } } })
    expect(app.client.text).toBe('Heard: One.')
  }],
  ['multi-turn', 'goes on with what was said', async () => {
    const session = await begin()
    await app.client.prompt(session, 'One.')
    expect(await app.client.prompt(session, 'Think.')).toMatchObject(ended)
    expect(app.client.updates.map(({ sessionUpdate }) => sessionUpdate)).toContain('agent_thought_chunk')
    expect(app.client.text).toBe('Heard: One.I thought.')
  }],
  ['update-termination', 'says everything before it answers', async () => {
    const words = 'a word '.repeat(300).trim()
    await app.client.prompt(await begin(), words)
    const atAnswer = app.client.updates.length
    expect(app.client.text).toBe(`Heard: ${words}`)
    await app.client.request('session/list', {})
    expect(app.client.updates).toHaveLength(atAnswer)
  }],
  ['cancel-in-flight', 'ends the turn as cancelled; another prompt is refused meanwhile', async () => {
    const session = await begin()
    const answer = app.client.prompt(session, 'Wait.')
    await app.client.until(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
    expect(await app.client.prompt(session, 'At once.')).toMatchObject({ error: { code: -32600 } })
    app.client.notify('session/cancel', { sessionId: session })
    expect(await answer).toMatchObject(cancelled)
  }],
  ['cancel-asked', 'ends the turn while the client is asked', async () => {
    const session = await begin()
    const isAsked = gate()
    app.client.onAsk = () => { isAsked.open(); return undefined }
    const answer = app.client.prompt(session, 'Touch.')
    await isAsked.opened
    app.client.notify('session/cancel', { sessionId: session })
    expect(await answer).toMatchObject(cancelled)
    expect(existsSync(join(app.cwd, 'made'))).toBe(false)
  }],
  ['cancel-idle', 'changes nothing where no turn is under way', async () => {
    const session = await begin()
    app.client.notify('session/cancel', { sessionId: session })
    app.client.notify('session/cancel', { sessionId: 'nobody' })
    expect(await app.client.prompt(session, 'After an idle cancel.')).toMatchObject(ended)
  }],
  ['cancel-followup', 'takes the next prompt after a cancel', async () => {
    const session = await begin()
    const answer = app.client.prompt(session, 'Wait.')
    await app.client.until(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
    app.client.notify('session/cancel', { sessionId: session })
    await answer
    expect(await app.client.prompt(session, 'After.')).toMatchObject(ended)
    expect(app.client.text).toContain('Heard: After.')
  }],
  ['request-cancelled', 'a request that is called off ends as a cancelled turn', async () => {
    const session = await begin()
    const answer = app.client.prompt(session, 'Wait.')
    await app.client.until(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
    app.client.notify('$/cancel_request', { requestId: app.client.lastId })
    const { result, error } = await answer
    expect(result?.['stopReason'] ?? error?.code).toBeOneOf(['cancelled', -32800])
    expect(await app.client.prompt(session, 'After.')).toMatchObject(ended)
  }],
  ['invalid-params', 'refuses what the protocol does not have, and goes on', async () => {
    for (const [method, params, code] of [
      ['session/new', { cwd: 'here', mcpServers: [] }, -32602],
      ['session/new', { cwd: null, mcpServers: [] }, -32602],
      ['session/new', { cwd: '/no/such/folder', mcpServers: [] }, -32602],
      ['session/prompt', { sessionId: 'nobody', prompt: 'Hello.' }, -32602],
      ['session/dance', {}, -32601],
    ] as const) expect({ method, params, ...(await app.client.request(method, params)).error }).toMatchObject({ method, params, code })
    app.client.writeLine('this is no JSON')
    expect(await app.client.prompt(await begin(), 'One.')).toMatchObject(ended)
  }],
  ['mcp-servers', 'refuses a session with MCP servers, and says why', async () => {
    const docs = { name: 'docs', command: 'docs', args: [], env: [] }
    expect((await app.client.request('session/new', { cwd: '/', mcpServers: [docs] })).error).toMatchObject({ code: -32602, message: expect.stringContaining('MCP servers are not supported') })
  }],
  ['unknown-session', 'says so, whatever is asked of it', async () => {
    for (const [method, more] of [['prompt', { prompt: text('Hello.') }], ['load', { cwd: '/', mcpServers: [] }], ['resume', { cwd: '/', mcpServers: [] }], ['close', {}], ['set_mode', { modeId: 'default' }]] as const) {
      expect({ method, ...(await app.client.request(`session/${method}`, { sessionId: '../../etc', ...more })).error }).toMatchObject({ method, code: -32002 })
    }
  }],
  ['permission-denied', 'does not do what the client rejects, and goes on', async () => {
    expect(await app.client.prompt(await begin('reject-once'), 'Touch.')).toMatchObject(ended)
    expect(existsSync(join(app.cwd, 'made'))).toBe(false)
    expect(app.client.text).toContain('the user did not allow this call of "shell"')
    expect(asked).toMatchObject([{ toolCall: { title: 'shell: touch made', kind: 'execute', status: 'pending' } }])
  }],
  ['permission-read', 'reads what the client allows it to', async () => {
    writeFileSync(join(app.cwd, 'a.txt'), 'old')
    expect(await app.client.prompt(await begin('allow-once'), 'Read.')).toMatchObject(ended)
    expect(asked).toMatchObject([{ toolCall: { kind: 'read' } }])
    expect(app.client.text).toContain('old')
  }],
  ['permission-write', 'writes what the client allows it to', async () => {
    expect(await app.client.prompt(await begin('allow-once'), 'Touch.')).toMatchObject(ended)
    expect(existsSync(join(app.cwd, 'made'))).toBe(true)
  }],
  ['empty-prompt', 'refuses a prompt that says nothing', async () => {
    const session = await begin()
    for (const prompt of [[], text('  ')]) expect(await app.client.request('session/prompt', { sessionId: session, prompt })).toMatchObject({ error: { code: -32602 } })
  }],
  ['structured-blocks', 'reads every kind of block that it said it takes', async () => {
    expect(await app.client.request('session/prompt', { sessionId: await begin(), prompt: [
      ...text('Look:'),
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'inside' } },
      { type: 'resource', resource: { uri: 'file:///b.json', mimeType: 'application/json', blob: Buffer.from('{"in":"a blob"}').toString('base64') } },
      { type: 'resource_link', uri: 'file:///c.txt', name: 'c' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ] })).toMatchObject(ended)
    const said = JSON.stringify(app.asked())
    for (const part of ['Look:', 'inside', 'a blob', 'file:///c.txt', 'data:image/png;base64,AAAA']) expect(said).toContain(part)
  }],
  ['background-completion', 'ends a turn once what it began in the background has been read', async () => {
    expect(await app.client.prompt(await begin('allow-once'), 'Delegate in the background.')).toMatchObject(ended)
    expect(app.client.text).toContain('status="completed"')
    const ends = app.client.updates.filter(({ toolCallId, status }) => toolCallId === 'run-1' && status !== 'in_progress')
    expect(ends.at(-1)).toMatchObject({ status: 'completed' })
  }],
]

describe('an agent of the protocol', () => {
  it.each(cases)('%s: %s', async (_id, _promise, run) => { await expect(run()).resolves.toBeUndefined() })
})

it('shakes hands before its app is there, also where that cannot be loaded', async () => {
  await using broken = await serve('- name: \'@offshoot/runtime\'\n  config: { agnet: {} }\n')
  expect((await broken.client.request('initialize', { protocolVersion: 1, clientCapabilities: {} })).result).toMatchObject({ protocolVersion: 1 })
  const { error } = await broken.client.request('session/new', { cwd: broken.cwd, mcpServers: [] })
  expect(JSON.stringify(error)).toContain('unknown config key \\"agnet\\"')
})
