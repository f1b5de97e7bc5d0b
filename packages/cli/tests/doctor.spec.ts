import { type Handler, startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { fakeAgent, type FakeAgentOptions } from '@offshoot/subagent-acp/testing'
import { describe, expect, it } from 'vitest'
import { folderWith, offshoot, start } from './support.ts'
import { gate } from './wire.ts'

const ok: Handler = () => ({ text: 'ok' })

function config(models: readonly string[], agents: Readonly<Record<string, FakeAgentOptions>> = {}): string {
  return [
    '- name: \'@offshoot/runtime\'\n  config: { agent: { model: first } }',
    ...models.map((model, i) => `- name: '@offshoot/model-ai-sdk'\n  config: { name: ${i === 0 ? 'first' : `model-${i}`}, ${model} }`),
    ...Object.entries(agents).map(([name, options]) => `- name: '@offshoot/subagent-acp'\n  config: ${JSON.stringify({ name, ...fakeAgent(options), timeouts: { initialize: options.hang ? 500 : 15_000, exit: 100, terminate: 100 } })}`),
  ].join('\n')
}

const lines = (stdout: string): string[] => stdout.trimEnd().replaceAll(/\([\d.]+ m?s\)/g, '(N)').replaceAll(/ready in [\d.]+ s/g, 'ready in N').split('\n')

describe.concurrent('offshoot doctor', () => {
  it('asks each model for a word, and starts each agent up to its first session', async () => {
    await using endpoint = await startEndpoint(ok)
    const cwd = folderWith({ 'cordis.yml': config([`baseURL: '${endpoint.baseURL}', model: a-model`], { helper: {} }) })
    const { code, stdout, stderr } = await offshoot(['doctor'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(lines(stdout)).toEqual([
      'ok      cordis.yml',
      'ok      model first: a-model (N)',
      'ok      provider fork: in this process (N)',
      expect.stringMatching(/^ok {6}provider helper: .*, ready in N \(N\)$/),
      'ok      provider spawn: in this process (N)',
    ])
    const [{ body }] = endpoint.requests as [typeof endpoint.requests[0]]
    expect(body['max_tokens'] ?? body['max_completion_tokens']).toBeLessThanOrEqual(16)
  })

  it('says of each that fails what is wrong and how to mend it, and still tells of the others', async () => {
    await using refusing = await startEndpoint(() => ({ status: 401, error: 'no such key: sk-abcdefghijklmnop' }))
    await using empty = await startEndpoint(() => ({ status: 429, error: { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } } }))
    await using endpoint = await startEndpoint(ok)
    const cwd = folderWith({ 'cordis.yml': config([
      `baseURL: '${refusing.baseURL}', model: a`, `baseURL: '${empty.baseURL}', model: b`, 'baseURL: \'http://127.0.0.1:1/v1\', model: c', `baseURL: '${endpoint.baseURL}', model: d`,
    ], { deaf: { hang: 'initialize' }, gone: { crash: 'session/new', stderr: ['no licence'] } }) })
    const { code, stdout } = await offshoot(['doctor'], { cwd })
    expect(code).toBe(1)
    const text = lines(stdout)
    const of = (name: string): string => text.find(line => line.includes(` ${name}: `)) ?? ''
    expect(of('model first')).toMatch(/^failed .*401: no such key: \[redacted\]; the key is not accepted: see apiKey in its entry/)
    expect(of('model model-1')).toMatch(/^failed .*quota.*top it up/)
    expect(of('model model-2')).toMatch(/^failed .*cannot be reached.*see baseURL in its entry/i)
    expect(of('model model-3')).toBe('ok      model model-3: d (N)')
    expect(of('provider deaf')).toMatch(/^failed .*initialize: no answer within 500 ms/)
    expect(of('provider gone')).toMatch(/^failed .*session\/new: the agent ended \(exited with code 1;.*no licence/)
  })

  it('of a bad config says where, as every command does', async () => {
    const cwd = folderWith({ 'cordis.yml': '- name: \'@offshoot/runtime\'\n  config: { agnet: {} }\n' })
    const { code, stderr } = await offshoot(['doctor'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(/cordis\.yml:1:3: .*unknown config key "agnet"/)
  })

  it('ends at Ctrl-C, whatever does not answer', async () => {
    const asked = gate()
    await using endpoint = await startEndpoint(() => {
      asked.open()
      return { hold: new Promise(() => {}) }
    })
    const cwd = folderWith({ 'cordis.yml': config([`baseURL: '${endpoint.baseURL}', model: a`]) })
    const command = start(['doctor'], { cwd })
    await command.wrote('stdout', /ok {6}cordis\.yml/)
    await asked.opened
    const late = AbortSignal.timeout(8000)
    command.process.kill('SIGINT')
    expect((await command.finished).code).toBe(130)
    // Nothing that had answered holds it.
    expect(late.aborted).toBe(false)
  })
})
