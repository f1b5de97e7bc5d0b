import { startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AcpClient } from './acp-client.ts'
import { config, serve } from './acp-served.ts'

describe.concurrent('offshoot acp', () => {
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

  it('keeps stdout clean, whatever a plugin prints, and however', async () => {
    const printing = `
import { execFileSync, execSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, writeSync } from 'node:fs'
console.log('by console')
process.stdout.write('by stdout\\n')
writeSync(1, 'by descriptor\\n')
createWriteStream('', { fd: 1, autoClose: false }).write('by a stream\\n')
execSync('echo by execSync', { stdio: 'inherit' })
execFileSync('echo', ['by execFileSync'], { stdio: ['ignore', 1, 'ignore'] })
spawnSync('echo', ['by spawnSync'], { stdio: 'inherit' })
await once(spawn('echo', ['by spawn'], { stdio: [0, process.stdout, 2] }), 'exit')
export const result = String(execSync('echo kept'))
export function apply() { console.info('by apply', result) }
`
    await using app = await serve(`- name: ./prints.mjs${config}`, { 'prints.mjs': printing })
    const session = await app.client.open(app.cwd)
    await app.client.prompt(session, 'One.')
    expect(app.client.noise).toEqual([])
    for (const way of ['console', 'stdout', 'descriptor', 'a stream', 'execSync', 'execFileSync', 'spawnSync', 'spawn', 'apply kept']) expect(app.client.stderr).toContain(`by ${way}\n`)
  })

  it('switches the model of a session, and keeps the conversation', async () => {
    await using app = await serve(`${config}- name: '@offshoot/model-scripted'\n  config: { name: other, rules: [{ reply: 'the other one' }] }\n`.replace('runtime\'\n  config: {', 'runtime\'\n  config: { agent: { model: main },').replace('model: test-model', 'name: main, model: test-model'))
    const session = await app.client.open(app.cwd)
    await app.client.prompt(session, 'One.')
    const { result } = await app.client.request('session/set_config_option', { sessionId: session, configId: 'model', value: 'other' })
    expect(result).toMatchObject({ configOptions: [{ id: 'mode' }, { id: 'model', category: 'model', currentValue: 'other' }] })
    await app.client.prompt(session, 'Two.')
    expect(app.client.text).toBe('Heard: One.the other one')
    expect((await app.client.request('session/set_config_option', { sessionId: session, configId: 'model', value: 'nobody' })).error).toMatchObject({ code: -32602 })
  })

  it('a mode decides what is asked, also of children and of what runs; it can be chosen in the old way and in the new one', async () => {
    await using app = await serve()
    const { client, cwd } = app
    const session = await client.open(cwd)
    const asked: string[] = []
    client.onAsk = (_method, { toolCall }) => {
      asked.push((toolCall as { title: string }).title)
      return { outcome: { outcome: 'selected', optionId: 'reject-once' } }
    }
    expect(await client.request('session/set_mode', { sessionId: session, modeId: 'read-only' })).toMatchObject({ result: {} })
    await client.prompt(session, 'Write.')
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
    expect(client.text).toContain('"write_file" is not allowed here (mode "read-only")')
    const { result } = await client.request('session/set_config_option', { sessionId: session, configId: 'mode', value: 'allow-all' })
    expect(result).toMatchObject({ configOptions: [{ id: 'mode', currentValue: 'allow-all' }, { id: 'model' }] })
    await client.prompt(session, 'Touch.')
    expect(existsSync(join(cwd, 'made'))).toBe(true)
    expect(asked).toEqual([])
    await client.request('session/set_mode', { sessionId: session, modeId: 'accept-edits' })
    await client.prompt(session, 'Write.')
    await client.prompt(session, 'Touch.')
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('new')
    expect(asked).toEqual(['shell: touch made'])
    expect(client.updates.filter(({ sessionUpdate }) => /mode|config/.test(sessionUpdate))).toMatchObject([
      { sessionUpdate: 'config_option_update', configOptions: [{ currentValue: 'read-only' }, {}] },
      { sessionUpdate: 'current_mode_update', currentModeId: 'allow-all' },
      { sessionUpdate: 'config_option_update', configOptions: [{ currentValue: 'accept-edits' }, {}] },
    ])
    expect((await client.request('session/set_mode', { sessionId: session, modeId: 'yolo' })).error).toMatchObject({ code: -32602, message: expect.stringContaining('modes: default, accept-edits, read-only, allow-all') })
  })

  it('keeps the mode as the model is switched', async () => {
    await using app = await serve(`${config}- name: '@offshoot/model-scripted'\n  config: { name: other, rules: [{ reply: 'the other one' }] }\n`.replace('model: test-model', 'name: main, model: test-model'))
    const session = await app.client.open(app.cwd)
    await app.client.request('session/set_mode', { sessionId: session, modeId: 'read-only' })
    for (const value of ['other', 'main']) await app.client.request('session/set_config_option', { sessionId: session, configId: 'model', value })
    await app.client.prompt(session, 'Touch.')
    expect(app.client.text).toContain('(mode "read-only")')
  })

  it('refuses a file that the model does not take, before it is part of the conversation', async () => {
    await using app = await serve(config.replace('model: test-model', 'model: test-model, accepts: []'))
    const session = await app.client.open(app.cwd)
    const prompt = [{ type: 'text', text: 'Look:' }, { type: 'image', mimeType: 'image/png', data: 'AAAA' }]
    expect((await app.client.request('session/prompt', { sessionId: session, prompt })).error).toMatchObject({ code: -32602, message: expect.stringContaining('the model test-model takes no image/png') })
    expect(await app.client.prompt(session, 'One.')).toMatchObject({ result: { stopReason: 'end_turn' } })
  })

  it('tells the title of a conversation with its first prompt, and lists those of a folder', async () => {
    await using app = await serve()
    const session = await app.client.open(app.cwd)
    await app.client.prompt(session, 'One.')
    await app.client.prompt(session, 'Two.')
    expect(app.client.updates.filter(({ sessionUpdate }) => sessionUpdate === 'session_info_update')).toMatchObject([{ title: 'One.' }])
    const listed = async (cwd: string): Promise<unknown> => (await app.client.request('session/list', { cwd })).result
    expect(await listed(app.cwd)).toMatchObject({ sessions: [{ sessionId: session, title: 'One.' }] })
    expect(await listed('/')).toEqual({ sessions: [] })
  })
})
