import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeAgent, type FakeAgentBehaviour, FakeAgentFiles, fakeAgentFlags, type FakeAgentOptions, type FakeAgentPhase, fakeAgentPhases, type FakeAgentReport, fakeUsage } from '../src/testing.ts'
import { RawClient } from './raw-client.ts'

let files: FakeAgentFiles

beforeEach(() => {
  files = new FakeAgentFiles()
})

afterEach(() => {
  files.dispose()
})

function started(options?: FakeAgentOptions): Promise<RawClient> {
  return RawClient.withSession({ logFile: files.log.path, ...options })
}

async function failed(...args: string[]): Promise<{ code: number, stderr: string }> {
  const { command, args: [program] } = fakeAgent()
  const error: unknown = await promisify(execFile)(command, [program!, ...args]).then(() => undefined, (thrown: unknown) => thrown)
  return error as { code: number, stderr: string }
}

describe('the command line', () => {
  it('has a help that names every flag', async () => {
    const { command, args } = fakeAgent()
    const { stdout } = await promisify(execFile)(command, [...args, '--help'])
    const missing = Object.keys(fakeAgentFlags).filter(name => !stdout.includes(`--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`))
    expect(missing).toEqual([])
  })

  it('refuses a flag that it does not know, and names the nearest', async () => {
    expect(await failed('--hagn', 'prompt')).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown flag "--hagn"; did you mean "--hang"?') as string })
    expect(() => fakeAgent({ crush: 'prompt' } as FakeAgentOptions)).toThrow('did you mean "crash"?')
  })

  it('refuses a value that fits nothing, and says what would', async () => {
    expect(await failed('--hang', 'lunch')).toMatchObject({ code: 2, stderr: expect.stringMatching(/--hang: takes one of start, initialize.*not "lunch"/) as string })
    expect(await failed('--crash-code=soon')).toMatchObject({ code: 2, stderr: expect.stringContaining('--crash-code: takes a whole number, not "soon"') as string })
    expect(await failed('--crash')).toMatchObject({ code: 2, stderr: expect.stringContaining('--crash needs MOMENT') as string })
  })
})

describe('a faultless agent', () => {
  it('shakes hands, echoes the prompt, and leaves when its stdin ends', async () => {
    await using agent = new RawClient()
    expect((await agent.initialize()).result).toMatchObject({ protocolVersion: 1, authMethods: [] })
    expect((await agent.newSession()).result).toEqual({ sessionId: 'session-1' })
    expect((await agent.prompt('hello')).result).toEqual({ stopReason: 'end_turn' })
    expect(agent.text).toBe('hello')
    agent.process.stdin.end()
    expect(await agent.exit).toBe(0)
    expect(existsSync(`/proc/${agent.process.pid}`)).toBe(false)
  })

  it.each<[FakeAgentBehaviour, string, string]>([
    [{ kind: 'answer', text: 'forty-two' }, 'forty-two', 'end_turn'],
    [{ kind: 'work', first: 'let me see. ', last: 'done' }, 'let me see. done', 'end_turn'],
    [{ kind: 'silent' }, '', 'end_turn'],
    [{ kind: 'truncated', text: 'once upon' }, 'once upon', 'max_tokens'],
    [{ kind: 'refusal' }, '', 'refusal'],
    [{ kind: 'max-turn-requests' }, '', 'max_turn_requests'],
    [{ kind: 'big', bytes: 1000 }, 'x'.repeat(1000), 'end_turn'],
  ])('does as told: %j', async (behaviour, text, stopReason) => {
    await using agent = await started({ behaviour })
    expect((await agent.prompt()).result).toEqual({ stopReason })
    expect(agent.text).toBe(text)
  })

  it('reads its behaviour anew at each prompt, and logs when it is under way and cancelled', async () => {
    await using agent = await started(files.options)
    expect((await agent.prompt()).result).toEqual({ stopReason: 'end_turn' })
    files.behave({ kind: 'fail', text: 'so far', message: 'quota exceeded' })
    expect((await agent.prompt()).error).toEqual({ code: -32603, message: 'quota exceeded' })
    files.behave({ kind: 'hang' })
    const answer = agent.prompt()
    await files.underWay()
    agent.cancel()
    expect((await answer).result).toEqual({ stopReason: 'cancelled' })
    await files.log.waitFor('prompt-answered', { count: 3 })
    expect(files.log.lines().map(({ what }) => what)).toEqual([
      'start', 'initialize', 'session/new', 'prompt', 'prompt-answered', 'prompt', 'prompt-answered', 'prompt', 'under-way', 'cancel', 'prompt-answered',
    ])
  })

  it('reports what it was started with: _meta, OFFSHOOT_* and the names alone of the rest', async () => {
    await using agent = new RawClient({ behaviour: { kind: 'report' } }, { OFFSHOOT_DEPTH: '2', SECRET: 'hush' })
    await agent.initialize({ _meta: { depth: 2 } })
    await agent.newSession({ _meta: { maxDepth: 3 } })
    await agent.prompt()
    const report = JSON.parse(agent.text) as FakeAgentReport
    expect(report).toMatchObject({ env: { OFFSHOOT_DEPTH: '2' }, initialize: { _meta: { depth: 2 } }, session: { _meta: { maxDepth: 3 } } })
    expect(report.environmentNames).toContain('SECRET')
    expect(agent.text).not.toContain('hush')
  })

  it('reports tokens in each of the places that agents use', async () => {
    await using agent = await started({ usage: ['response', 'quota', 'update'] })
    expect((await agent.prompt()).result).toMatchObject({ usage: fakeUsage, _meta: { quota: { token_count: { input_tokens: 11, output_tokens: 7 } } } })
    expect(agent.updates('usage_update')).toHaveLength(1)
  })

  it('accepts the modes and config options that it announced, and refuses others', async () => {
    await using agent = new RawClient({ modes: ['auto', 'plan'], configOptions: ['model=small,big', 'fast'] })
    await agent.initialize()
    expect((await agent.newSession()).result).toMatchObject({ modes: { currentModeId: 'auto' }, configOptions: [{ id: 'model', currentValue: 'small' }, { id: 'fast', type: 'boolean' }] })
    const set = (what: string, params: object) => agent.request(`session/set_${what}`, { sessionId: 'session-1', ...params })
    expect((await set('mode', { modeId: 'plan' })).result).toEqual({})
    expect((await set('mode', { modeId: 'yolo' })).error).toMatchObject({ message: 'no mode "yolo"' })
    expect((await set('config_option', { configId: 'model', value: 'big' })).result).toMatchObject({ configOptions: [{ currentValue: 'big' }, {}] })
    expect((await set('config_option', { configId: 'model', value: 'huge' })).error).toMatchObject({ message: 'config option "model" cannot be "huge"' })
  })
})

describe('at each phase', () => {
  /** Walk through the phases in order; answers with what this one brought. */
  async function walkTo(agent: RawClient, phase: FakeAgentPhase) {
    const session = { sessionId: 'session-1' }
    const steps: Record<FakeAgentPhase, () => ReturnType<RawClient['request']>> = {
      'initialize': () => agent.initialize(),
      'authenticate': () => agent.request('authenticate', { methodId: 'key' }),
      'session/new': () => agent.newSession(),
      'set-mode': () => agent.request('session/set_mode', { ...session, modeId: 'auto' }),
      'set-config': () => agent.request('session/set_config_option', { ...session, configId: 'model', value: 'small' }),
      'prompt': () => agent.prompt(),
      'close': () => agent.request('session/close', session),
    }
    for (const each of fakeAgentPhases.slice(0, fakeAgentPhases.indexOf(phase))) expect(await steps[each]()).toHaveProperty('result')
    return steps[phase]()
  }

  const ready: FakeAgentOptions = { auth: ['key'], requiresAuth: true, modes: ['auto'], configOptions: ['model=small'], capabilities: ['close'] }

  it.each(fakeAgentPhases)('%s: it hangs, crashes or answers with an error, as told', { timeout: 30_000 }, async phase => {
    await using failing = new RawClient({ ...ready, error: phase, errorCode: -32000, errorMessage: 'no' })
    expect((await walkTo(failing, phase)).error).toEqual({ code: -32000, message: 'no' })

    await using crashing = new RawClient({ ...ready, crash: phase, crashCode: 9 })
    expect(await walkTo(crashing, phase).catch((error: unknown) => error)).toEqual(new Error('the agent ended'))
    expect(await crashing.exit).toBe(9)

    await using hanging = new RawClient({ ...ready, hang: phase, logFile: files.log.path })
    const answer = walkTo(hanging, phase).catch((error: unknown) => error)
    await files.log.waitFor('hang')
    hanging.cancel()
    await files.log.waitFor('cancel')
    hanging.process.stdin.end()
    expect(await answer).toEqual(new Error('the agent ended'))
    expect(await hanging.exit).toBe(0)
  })

  it('mid-prompt: some text has been written before it crashes, also by a signal', async () => {
    await using agent = await started({ crash: 'mid-prompt', crashSignal: 'SIGSEGV', stderr: ['boom sk-abc'] })
    expect(await agent.prompt().catch((error: unknown) => error)).toEqual(new Error('the agent ended'))
    expect(await agent.exit).toBe('SIGSEGV')
    expect(agent).toMatchObject({ text: 'partial', stderr: 'boom sk-abc\n' })
  })
})

describe('what it writes', () => {
  it('can be noise before and between messages', async () => {
    await using agent = await started({ banner: ['text', 'ansi', 'osc', 'json', 'array', 'scalar'], noise: ['json'] })
    await agent.prompt()
    const lines = agent.pieces.join('').trimEnd().split('\n')
    expect(lines.filter(line => !line.startsWith('{"jsonrpc"'))).toHaveLength(7 + 4)
  })

  it('can be many chunks and the response in one write', async () => {
    await using agent = await started({ behaviour: { kind: 'chunks', count: 20 } })
    agent.pieces.length = 0
    const answer = agent.prompt()
    await agent.message(({ method }) => method !== undefined)
    expect(agent.messages).toHaveLength(21)
    expect((await answer).result).toEqual({ stopReason: 'end_turn' })
  })

  it('can be noise and a message on one line, two messages on one, or a last one without an end', async () => {
    const lines: string[] = []
    for (const glue of ['noise', 'pair', 'unended'] as const) {
      await using agent = await started({ glue })
      agent.prompt().catch(() => {})
      if (glue !== 'unended') agent.process.stdin.end()
      await agent.exit
      lines.push(agent.pieces.join('').split('\n').findLast(line => line !== '')!)
    }
    expect(lines[0]).toMatch(/^warning: .*[^}]\{"jsonrpc":"2.0","id":3,.*\}$/)
    expect(lines[1]).toMatch(/^\{"jsonrpc":.*\}\{"jsonrpc":"2.0","id":3,.*\}$/)
    expect(lines[2]).toMatch(/^\{"jsonrpc":"2.0","id":3,"result".*\}$/)
  })

  it('can come in pieces that are cut within a character', async () => {
    await using agent = await started({ glue: 'split' })
    expect((await agent.prompt('é'.repeat(50))).result).toEqual({ stopReason: 'end_turn' })
    expect(agent.text).toBe('é'.repeat(50))
    expect(agent.pieces.length).toBeGreaterThan(10)
  })

  it('can be unknown or vendor\'s own, and an update can come late', async () => {
    const extras = Object.keys(extrasSeen) as (keyof typeof extrasSeen)[]
    await using agent = await started({ extras, lateUpdate: 10 })
    const answer = agent.prompt('hello')
    const { id, method } = await agent.message(each => each.id !== undefined && each.method !== undefined)
    expect(method).toBe('fake/drain')
    agent.write({ id, error: { code: -32601, message: 'no such method' } })
    await answer
    expect(agent.updates('weather_update')).toHaveLength(1)
    expect(agent.updates('user_message_chunk')).toHaveLength(1)
    expect(agent.text).toBe('hello')
    await files.log.waitFor('late')
    await agent.message(({ params }) => JSON.stringify(params ?? '').includes('"late"'))
    expect(agent.text).toBe('hellolate')
  })

  const extrasSeen = { 'unknown-update': 1, 'unknown-content': 1, 'user-message': 1, 'vendor-notification': 1, 'vendor-request': 1 } as const

  it('can lack what the protocol requires', async () => {
    await using agent = new RawClient({ protocolVersion: 7, omit: ['sessionId'], stopReason: 'bored' })
    expect((await agent.initialize()).result).toMatchObject({ protocolVersion: 7 })
    expect((await agent.newSession()).result).toEqual({})
    expect((await agent.prompt()).result).toEqual({ stopReason: 'bored' })
  })

  it('can be a megabyte of stderr before the first reply', async () => {
    await using agent = await started({ stderrBytes: 1 << 20 })
    agent.process.stdin.end()
    await agent.closed
    expect(agent.stderr).toHaveLength(1 << 20)
  })
})
