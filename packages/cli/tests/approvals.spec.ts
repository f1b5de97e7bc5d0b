import { startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith, offshoot, type Running, start } from './support.ts'
import { lastMessageText } from './wire.ts'

const config = `
- name: '@offshoot/runtime'
  config: { approvals: { execute: ask } }
- name: '@offshoot/model-ai-sdk'
  config: { baseURL: !!js process.env.OPENAI_BASE_URL, model: test-model }
- name: '@offshoot/tool-shell'
- name: '@offshoot/tool-subagent'
  config: { provider: spawn, toolName: research, concurrency: parallel }
`

const touch = (name: string) => ({ name: 'shell', arguments: { command: `touch ${name}` } })
const child = (description: string, prompt: string) => ({ name: 'research', arguments: { description, prompt } })

interface Asking extends AsyncDisposable {
  readonly cwd: string
  readonly command: Running
  has(name: string): boolean
}

/** A command over an app that asks before each shell command; its model does what the last message says. */
async function asking(args: readonly string[], onTerminal = true): Promise<Asking> {
  const endpoint = await startEndpoint(request => {
    const last = lastMessageText(request)
    if (last === 'Touch.') return { calls: [touch('a')] }
    if (last === 'Touch twice.') return { calls: [touch('a'), touch('b')] }
    if (last === 'Delegate.') return { calls: [child('one', 'Touch one.'), child('two', 'Touch two.')] }
    const own = /^Touch (one|two)\.$/.exec(last)
    if (own) return { calls: [touch(own[1]!)] }
    return { text: `Heard: ${last}` }
  })
  const cwd = folderWith({ 'cordis.yml': config })
  const command = start(args, { cwd, env: { OPENAI_BASE_URL: endpoint.baseURL, CI: 'true' }, onTerminal })
  return { cwd, command, has: name => existsSync(join(cwd, name)), [Symbol.asyncDispose]: () => endpoint.close() }
}

const question = /allow\? y yes · a always shell · n no · n <why> >/

describe.concurrent('offshoot run, on a terminal', () => {
  it('asks who wants what, and a yes lets it run', async () => {
    await using app = await asking(['run', 'Touch.'])
    await app.command.wrote('stderr', question)
    expect(app.has('a')).toBe(false)
    app.command.type('y\n')
    const { code, stderr } = await app.command.finished
    expect(code).toBe(0)
    expect(stderr).toContain('approval-1  main wants shell (execute): touch a\n')
    expect(stderr).toContain('main: shell allowed (approval-1)\n')
    expect(app.has('a')).toBe(true)
  })

  it('a no with words is told to the model; what is no answer puts the question again', async () => {
    await using app = await asking(['run', 'Touch.'])
    await app.command.wrote('stderr', question)
    app.command.type('perhaps\n')
    await app.command.wrote('stderr', /allow\?[^]*allow\?/)
    app.command.type('n not today\n')
    const { code, stdout } = await app.command.finished
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Heard: Error: the user did not allow this call of "shell": not today\n' })
    expect(app.has('a')).toBe(false)
  })

  it('children are named, one is asked for after the other, and "always" goes for both', async () => {
    await using app = await asking(['run', 'Delegate.'])
    await app.command.wrote('stderr', question)
    app.command.type('a\n')
    const { code, stderr } = await app.command.finished
    expect(code).toBe(0)
    expect(stderr).toMatch(/approval-\d {2}main › (one|two) \(run-\d\) wants shell \(execute\): touch (one|two)/)
    expect([app.has('one'), app.has('two')]).toEqual([true, true])
  })

  it('Ctrl-D leaves nobody to ask: the call is refused, and the run goes on', async () => {
    await using app = await asking(['run', 'Touch.'])
    await app.command.wrote('stderr', question)
    app.command.endInput()
    const { code, stdout } = await app.command.finished
    expect(code).toBe(0)
    expect(stdout).toContain('nobody is here to give it')
    expect(app.has('a')).toBe(false)
  })

  it('Ctrl-C ends the run, and the question with it', async () => {
    await using app = await asking(['run', 'Touch.'])
    await app.command.wrote('stderr', question)
    app.command.process.kill('SIGINT')
    expect((await app.command.finished).code).toBe(130)
    expect(app.has('a')).toBe(false)
  })
})

describe.concurrent('offshoot chat, on a terminal', () => {
  it('a line answers the open question, and is a turn otherwise', async () => {
    await using app = await asking(['chat'])
    await app.command.wrote('stderr', />/)
    app.command.type('Touch twice.\r')
    await app.command.wrote('stderr', question)
    app.command.type('y\r')
    await app.command.wrote('stderr', /approval-2 {2}main wants shell \(execute\): touch b[^]*allow\?/)
    app.command.type('/approvals\r')
    await app.command.wrote('stdout', /approval-2 {2}main wants shell/)
    app.command.type('n\r')
    await app.command.wrote('stdout', /Heard: /)
    app.command.type('Hello.\r')
    await app.command.wrote('stdout', /Heard: Hello\./)
    app.command.type('\u0004')
    expect((await app.command.finished).code).toBe(0)
    expect([app.has('a'), app.has('b')]).toEqual([true, false])
  })
})

describe.concurrent('without a terminal', () => {
  it('nobody is asked: the model reads why', async () => {
    await using app = await asking(['run', 'Touch.'], false)
    const { code, stdout } = await app.command.finished
    expect(code).toBe(0)
    expect(stdout).toContain('"shell" needs an approval, and nobody is here to give it (approvals: execute;')
    expect(app.has('a')).toBe(false)
  })

  it('a chat over a pipe neither', async () => {
    await using app = await asking(['chat'], false)
    app.command.type('Touch.\n')
    app.command.endInput()
    expect((await app.command.finished).stdout).toContain('nobody is here to give it')
  })

  it('--json tells of what code answers', async () => {
    const cwd = folderWith({
      'cordis.yml': config.replace('!!js process.env.OPENAI_BASE_URL', '\'http://127.0.0.1:1\'').replace('- name: \'@offshoot/model-ai-sdk\'', '- name: ./attends.mjs\n- name: \'@offshoot/model-ai-sdk\'')
        .replace(/- name: '@offshoot\/model-ai-sdk'\n {2}config: .*\n/, '- name: \'@offshoot/model-scripted\'\n  config: { rules: [{ when: { step: 1 }, calls: [{ tool: shell, args: { command: \'true\' } }] }, { reply: done }] }\n'),
      'attends.mjs': 'export const name = "attends"\nexport const inject = ["approvals"]\nexport function apply(ctx) { ctx.approvals.attend({ asked: approval => approval.allow() }) }\n',
    })
    const { code, stdout } = await offshoot(['run', '--json', 'Go.'], { cwd })
    expect(code).toBe(0)
    const events = stdout.trim().split('\n').map(line => JSON.parse(line) as { type: string }).filter(({ type }) => type.startsWith('approval'))
    expect(events).toMatchObject([
      { type: 'approval-asked', approvalId: 'approval-1', agent: 'main', path: ['main'], tool: 'shell', effect: 'execute', summary: 'true' },
      { type: 'approval-settled', approvalId: 'approval-1', allowed: true, by: 'answer' },
    ])
  })
})
