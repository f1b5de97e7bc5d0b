import { startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { offshootHere } from './here.ts'
import { appConfig, folderWith, offshoot, start } from './support.ts'
import { lastMessageText, onWire } from './wire.ts'

const delegation = { name: 'research', arguments: { description: 'ask a child', prompt: 'What do you know?' } }

describe.concurrent('offshoot run', () => {
  it('delegates over HTTP: the answer alone on stdout, progress, the tree of what ran and what it used on stderr', async () => {
    await using endpoint = await startEndpoint(request => onWire(request, {
      'Find out.': { calls: [delegation] },
      'What do you know?': { text: 'I know 42.' },
      'I know 42.': { text: 'The child knows 42.' },
    }))
    const cwd = folderWith({ 'cordis.yml': appConfig })
    const { code, stdout, stderr } = await offshoot(['run', 'Find out.'], { cwd, env: { OPENAI_BASE_URL: endpoint.baseURL } })
    expect(stdout).toBe('The child knows 42.\n')
    expect(code).toBe(0)
    const lines = stderr.split('\n')
    expect(lines[0]).toBe('run-1 research "ask a child" started')
    expect(lines[1]).toMatch(/^run-1 research "ask a child" completed \(.+\)$/)
    expect(lines[2]).toBe('')
    expect(lines[3]).toMatch(/^main completed \(2 steps, 1 tool call, .+, 200 in \+ 40 out tokens; in all 300 in \+ 60 out tokens\)$/)
    expect(lines[4]).toMatch(/^└─ run-1 research "ask a child" completed \(1 step, 0 tool calls, .+, 100 in \+ 20 out tokens\)$/)
    expect(lines.slice(5)).toEqual(['usage: 3 requests, 300 in + 60 out tokens (own 200 in + 40 out), 1 child', ''])
    expect(endpoint.requests).toHaveLength(3)
  })

  it('takes the task from standard input', async () => {
    await using endpoint = await startEndpoint(request => ({ text: `asked: ${lastMessageText(request)}` }))
    const cwd = folderWith({ 'cordis.yml': appConfig })
    const { stdout } = await offshoot(['run'], { cwd, env: { OPENAI_BASE_URL: endpoint.baseURL }, input: 'line one\nline two\n' })
    expect(stdout).toBe('asked: line one\nline two\n')
  })
})

describe('the options of offshoot run', () => {
  it('gives the agent the folder of --cwd, and reads the config of -c', async () => {
    await using endpoint = await startEndpoint()
    const [config, work] = [folderWith({ 'my.yml': appConfig }), folderWith()]
    const { code } = await offshootHere(['run', '-c', `${config}/my.yml`, '--cwd', work, 'Go.'], { cwd: folderWith(), env: { OPENAI_BASE_URL: endpoint.baseURL } })
    expect(code).toBe(0)
    expect(realpathSync(/Working directory: (.*)$/.exec(endpoint.requests[0]!.body.messages[0]!.content as string)![1]!)).toBe(realpathSync(work))
  })

  it('--quiet writes nothing but the answer', async () => {
    await using endpoint = await startEndpoint(request => onWire(request, {
      'Go.': { calls: [delegation] }, 'What do you know?': { text: 'Much.' }, 'Much.': { text: 'Done.' },
    }))
    const cwd = folderWith({ 'cordis.yml': appConfig })
    expect(await offshootHere(['run', '--quiet', 'Go.'], { cwd, env: { OPENAI_BASE_URL: endpoint.baseURL } })).toEqual({ code: 0, stdout: 'Done.\n', stderr: '' })
  })

  it('says what a fork knows of the conversation, and what of its own makes its cache cold', async () => {
    await using endpoint = await startEndpoint(request => onWire(request, {
      'Go.': { calls: [{ ...delegation, name: 'branch' }] }, 'Much.': { text: 'Done.' },
    }, { text: 'Much.' }))
    const cwd = folderWith({ 'cordis.yml': `${appConfig}- name: '@offshoot/tool-subagent'\n  config: { provider: fork, toolName: branch, persona: A critic. }\n` })
    const { code, stderr } = await offshootHere(['run', 'Go.'], { cwd, env: { OPENAI_BASE_URL: endpoint.baseURL } })
    expect(code).toBe(0)
    expect(stderr).toMatch(/^run-1 branch "ask a child" started, knows 0 turns \(cold cache: system\)\n/)
  })

  it('--json writes one event a line, the result last, and nothing on stderr', async () => {
    await using endpoint = await startEndpoint(request => onWire(request, {
      'Go.': { calls: [delegation] }, 'What do you know?': { text: 'Much.' }, 'Much.': { text: 'Done.' },
    }))
    const cwd = folderWith({ 'cordis.yml': appConfig })
    const { code, stdout, stderr } = await offshootHere(['run', '--json', 'Go.'], { cwd, env: { OPENAI_BASE_URL: endpoint.baseURL } })
    const events = stdout.trimEnd().split('\n').map(line => JSON.parse(line) as Record<string, unknown>)
    expect(events.map(({ type }) => type)).toEqual([
      'turn-start', 'step-start', 'tool-start', 'subagent-start', 'turn-start', 'step-start', 'text-delta', 'subagent-end', 'tool-end', 'step-start', 'text-delta', 'result',
    ])
    expect(events[3]).toMatchObject({ runId: 'run-1', provider: 'spawn', label: 'ask a child', tool: { name: 'research' }, depth: 1 })
    expect(events[6]).toEqual({ type: 'text-delta', text: 'Much.', agent: 'run-1' })
    expect(events[7]).toMatchObject({ runId: 'run-1', stopReason: 'completed', output: 'Much.', model: 'test-model', usage: { inputTokens: 100 }, totalUsage: { inputTokens: 100 } })
    expect(events.at(-1)).toMatchObject({ type: 'result', stopReason: 'completed', output: 'Done.', usage: { inputTokens: 200, outputTokens: 40, steps: 2, toolCalls: 1 }, totalUsage: { inputTokens: 300, outputTokens: 60, steps: 3, toolCalls: 1 } })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})

describe('offshoot run, when the task is not completed', () => {
  it.each([
    ['refuses with HTTP 401', { status: 401, error: 'invalid key' }, /^offshoot: not completed \(error\): the model endpoint http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions answered 401: invalid key\nusage: 1 request, tokens unknown\n$/],
    ['declines', { finishReason: 'content_filter' }, /^offshoot: not completed \(refusal\): .+\nusage: 1 request, .+\n$/],
    ['says nothing', {}, /^offshoot: not completed \(empty-output\): .+\nusage: 2 requests, .+\n$/],
  ])('because the model %s: exit 1, one line before what it used, nothing on stdout', async (_why, reply, line) => {
    await using endpoint = await startEndpoint(() => reply)
    const cwd = folderWith({ 'cordis.yml': appConfig })
    const { code, stdout, stderr } = await offshootHere(['run', 'Go.'], { cwd, env: { OPENAI_BASE_URL: endpoint.baseURL } })
    expect(stderr).toMatch(line)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  })

  it('because the endpoint is not there: exit 1, one line that names it', async () => {
    const endpoint = await startEndpoint()
    await endpoint.close()
    const cwd = folderWith({ 'cordis.yml': appConfig })
    const { code, stderr } = await offshootHere(['run', 'Go.'], { cwd, env: { OPENAI_BASE_URL: endpoint.baseURL } })
    expect(stderr).toMatch(new RegExp(`^offshoot: not completed \\(error\\): the model endpoint ${endpoint.baseURL}/chat/completions cannot be reached: .*ECONNREFUSED.*\\nusage: 1 request, tokens unknown\\n$`))
    expect(code).toBe(1)
  })

  it('because the reply was cut: what there is of it goes to stderr, marked as no answer', async () => {
    await using endpoint = await startEndpoint(() => ({ text: 'Half an ans', finishReason: 'length' }))
    const cwd = folderWith({ 'cordis.yml': appConfig })
    const { code, stdout, stderr } = await offshootHere(['run', 'Go.'], { cwd, env: { OPENAI_BASE_URL: endpoint.baseURL } })
    expect(stderr).toMatch(/not completed \(max-tokens\)[^]*which is no answer:\nHalf an ans\nusage: .+\n$/)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  })
})

describe.concurrent('offshoot run, when it is ended from outside', () => {
  it.each([['SIGINT', 130, 'interrupted'], ['SIGTERM', 143, 'terminated']] as const)('%s ends its child and itself: exit %i', async (signal, expected, word) => {
    let atWork!: () => void
    const childAtWork = new Promise<void>(resolve => { atWork = resolve })
    await using endpoint = await startEndpoint(request => {
      if (lastMessageText(request) === 'Go.') return { calls: [delegation] }
      atWork()
      return { hold: new Promise(() => {}) }
    })
    const { process: child, finished } = start(['run', 'Go.'], { cwd: folderWith({ 'cordis.yml': appConfig }), env: { OPENAI_BASE_URL: endpoint.baseURL } })
    await childAtWork
    child.kill(signal)
    const { code, stdout, stderr } = await finished
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' })
    expect(stderr).toContain(`offshoot: ${word}, ending what runs`)
    expect(stderr).toMatch(/main aborted[^]*└─ run-1 research "ask a child" aborted/)
    await endpoint.requests[1]!.closed
    expect(endpoint.requests[1]!.aborted).toBe(true)
  })

  it('a second Ctrl-C ends it at once, whatever takes its time, and no command lives on', async () => {
    const cwd = folderWith({ 'cordis.yml': `${appConfig}- name: '@offshoot/tool-shell'\n  config: { graceMs: 60000 }\n` })
    await using endpoint = await startEndpoint(() => ({ calls: [{ name: 'shell', arguments: { command: 'trap "" TERM; echo $$ > pid; while :; do sleep 1; done' } }] }))
    const run = start(['run', 'Go.'], { cwd, env: { OPENAI_BASE_URL: endpoint.baseURL }, input: '' })
    await run.wrote('stderr', /main: shell trap/)
    const pid = await vi.waitFor(() => /^(\d+)\n$/.exec(readFileSync(join(cwd, 'pid'), 'utf8'))![1]!, { timeout: 10_000 })
    run.process.kill('SIGINT')
    await run.wrote('stderr', /offshoot: interrupted, ending what runs \(again: at once\)/)
    expect(isAlive(pid)).toBe(true)
    run.process.kill('SIGINT')
    expect(await run.finished).toMatchObject({ code: 130, stdout: '' })
    await vi.waitFor(() => { expect(isAlive(pid)).toBe(false) })
  })
})

/** A process that has ended may stay in /proc, as a zombie that nobody asked about. */
function isAlive(pid: string): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
