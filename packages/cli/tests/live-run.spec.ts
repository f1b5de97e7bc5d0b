import { startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { describe, expect, it, vi } from 'vitest'
import { offshootHere } from './here.ts'
import { Screen } from './screen.ts'
import { appConfig, folderWith } from './support.ts'
import { gate, inBackground, lastMessageText, onWire } from './wire.ts'

const onTerminal = { CI: '', TERM: 'xterm-256color' }
const asks = { name: 'research', arguments: { description: 'ask a child', prompt: 'What do you know?' } }
const config = appConfig.replace('runtime\'', 'runtime\'\n  config: { subagents: { limits: { concurrentPerTree: 1 } } }')

describe('offshoot run, on a terminal', () => {
  it('shows who lives, what each does or waits for, and its tokens; at the end that is gone, and nothing that was said', async () => {
    const settles = gate()
    await using endpoint = await startEndpoint(request => onWire(request, {
      'Go.': { calls: [inBackground('first', 'First.'), inBackground('second', 'Second.'), asks] },
      'First.': { hold: settles.opened, text: 'one' }, 'Second.': { text: 'two' }, 'What do you know?': { text: '42' },
    }, { text: 'All done.' }))
    const screen = new Screen(90, 24)
    const cwd = folderWith({ 'cordis.yml': config })
    const finished = offshootHere(['run', 'Go.'], { cwd, env: { OPENAI_BASE_URL: endpoint.baseURL, ...onTerminal }, screen })
    await vi.waitFor(async () => {
      expect((await screen.lines()).slice(-4).map(line => line.replaceAll(/\d+ s/g, 'N s'))).toEqual([
        'main runs research, step 1, N s, 100 in + 20 out',
        '├─ run-1 research "first" [background subagent-1] model, step 1, N s',
        '├─ run-2 research "second" [background subagent-2] queued, N s',
        '└─ run-3 research "ask a child" queued, N s',
      ])
    }, { timeout: 5000 })
    await screen.resize(40)
    await vi.waitFor(async () => {
      expect((await screen.lines()).slice(-4).map(line => line.replaceAll(/\d+s/g, 'Ns'))).toEqual([
        'main runs research #1 Ns 100+20', '├─ run-1 "first" model #1 Ns', '├─ run-2 "second" queued Ns', '└─ run-3 "ask a child" queued Ns',
      ])
    })
    await screen.resize(200)
    settles.open()
    const { code, stdout } = await finished
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'All done.\n' })
    const lines = await screen.lines()
    expect(lines.filter(line => /model, step|queued|runs research/.test(line))).toEqual([])
    for (const id of ['run-1', 'run-2', 'run-3']) {
      expect(lines.filter(line => line.startsWith(`${id} `)).map(line => / (started|completed)\b/.exec(line)?.[1])).toEqual(['started', 'completed'])
      expect(lines.filter(line => line.includes(`─ ${id} `))).toHaveLength(1)
    }
    expect(lines.at(-1)).toMatch(/^usage: \d requests, .+, 3 children$/)
  })

  it.each([
    ['with TERM=dumb', { TERM: 'dumb', CI: '' }, []], ['under CI', { ...onTerminal, CI: 'true' }, []],
    ['with --quiet', onTerminal, ['--quiet']], ['with --json', onTerminal, ['--json']],
  ])('%s writes no escape at all', async (_when, env, options) => {
    await using endpoint = await startEndpoint(request => onWire(request, { 'Go.': { calls: [asks] } }, { text: 'Done.' }))
    const screen = new Screen(80, 24)
    const { code } = await offshootHere(['run', ...options, 'Go.'], { cwd: folderWith({ 'cordis.yml': appConfig }), env: { OPENAI_BASE_URL: endpoint.baseURL, ...env }, screen })
    expect(code).toBe(0)
    expect(screen.writes.join('')).not.toContain('\u001b')
  })

  it('is the words that go through a pipe, and the tree besides', async () => {
    await using endpoint = await startEndpoint(request => onWire(request, { 'Go.': { calls: [asks] }, 'What do you know?': { text: '42' } }, { text: 'Done.' }))
    const cwd = folderWith({ 'cordis.yml': appConfig })
    const env = { OPENAI_BASE_URL: endpoint.baseURL, ...onTerminal }
    const screen = new Screen(200, 50)
    const piped = await offshootHere(['run', 'Go.'], { cwd, env })
    await offshootHere(['run', 'Go.'], { cwd, env, screen })
    const timeless = (text: string) => text.replaceAll(/[\d.]+ m?s\b/g, 'N s')
    expect(timeless((await screen.lines()).join('\n'))).toBe(timeless(piped.stderr.trimEnd()))
    expect(screen.writes.join('')).toContain('\u001b[1A\r\u001b[J')
  })
})

describe('the usage line of offshoot run', () => {
  it('says of how many requests nobody knows the tokens, and never 0 for them', async () => {
    await using endpoint = await startEndpoint(request => lastMessageText(request) === 'What do you know?'
      ? { status: 400, error: 'no' } : lastMessageText(request) === 'Go.' ? { calls: [asks] } : { text: 'It failed.' })
    const { stderr } = await offshootHere(['run', 'Go.'], { cwd: folderWith({ 'cordis.yml': appConfig }), env: { OPENAI_BASE_URL: endpoint.baseURL } })
    expect(stderr).toMatch(/\n└─ run-1 research "ask a child" error: .+ \(1 step, 0 tool calls, .+, tokens unknown\)\n/)
    expect(stderr).toMatch(/\nusage: 3 requests, 200 in \+ 40 out tokens \(own 200 in \+ 40 out\), 1 child; tokens of 1 request unknown\n$/)
  })
})
