import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RecordedRequest, startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { describe, expect, it } from 'vitest'
import { appConfig, folderWith, offshoot, start } from './support.ts'
import { gate, lastMessageText } from './wire.ts'

const plugin = `
  export function apply(ctx, { word }) {
    console.log('hello ' + word)
    ctx.effect(() => () => { console.log('bye ' + word) })
  }
`
const entry = (id: string, word = id) => `- { id: ${id}, name: ./plugin.mjs, config: { word: ${word} } }\n`
const withPlugin = (yml: string) => ({ cwd: folderWith({ 'cordis.yml': yml, 'plugin.mjs': plugin }) })

function toolsOf(request: RecordedRequest): string[] {
  return (request.body.tools ?? []).map(tool => tool.function.name)
}

describe.concurrent('offshoot start', () => {
  it.each([['SIGINT', 130], ['SIGTERM', 143]] as const)('keeps the app running until %s, and ends it in order: exit %i', async (signal, expected) => {
    const run = start(['start'], { ...withPlugin(entry('a') + entry('b')), input: '' })
    await run.wrote('stderr', /^started cordis\.yml \(2 entries\)$/m)
    run.process.kill(signal)
    const { code, stdout } = await run.finished
    expect({ code, stdout }).toEqual({ code: expected, stdout: 'hello a\nhello b\nbye b\nbye a\n' })
  })

  it('says what is wrong with a config, and ends: exit 2', async () => {
    const { code, stderr } = await offshoot(['start'], withPlugin('- name: ./plugn.mjs\n'))
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'cordis.yml:1:3: entry "./plugn.mjs" (./plugn.mjs): there is no file "./plugn.mjs"; did you mean "./plugin.mjs"?\n' })
  })

  it('--watch takes over an edit, says in one line what it changed, and keeps the app as it was where the edit is wrong', async () => {
    const app = withPlugin(entry('research') + entry('review') + entry('rest'))
    const file = join(app.cwd, 'cordis.yml')
    const run = start(['start', '--watch'], app)
    await run.wrote('stderr', /^started/m)
    writeFileSync(`${file}.tmp`, entry('research', 'more') + entry('shell') + entry('rest'))
    renameSync(`${file}.tmp`, file)
    await run.wrote('stderr', /^reloaded: research restarted, shell added, review removed$/m)
    writeFileSync(file, entry('research', '!!js nope') + entry('shell'))
    await run.wrote('stderr', /^kept as it was$/m)
    run.process.kill('SIGTERM')
    const { code, stdout, stderr } = await run.finished
    expect(code).toBe(143)
    expect(stdout.split('\n').filter(line => line.endsWith('rest'))).toEqual(['hello rest', 'bye rest'])
    expect(stdout).toContain('bye review\nbye research\nhello more\nhello shell\nbye rest\n')
    expect(stderr).toContain('cordis.yml:1:3: entry "research" (./plugin.mjs): config key "word": !!js nope throws ReferenceError: nope is not defined\nkept as it was\n')
  })
})

describe.concurrent('offshoot chat --watch', () => {
  const chatOf = async (baseURL: string) => {
    const cwd = folderWith({ 'cordis.yml': appConfig })
    const chat = start(['chat', '--watch'], { cwd, env: { OPENAI_BASE_URL: baseURL } })
    return { chat, edit: (yml: string) => { writeFileSync(join(cwd, 'cordis.yml'), yml) } }
  }

  it('goes on with the tools that the edit leaves, in the order of their names', async () => {
    await using endpoint = await startEndpoint(() => ({ text: 'ok' }))
    const { chat, edit } = await chatOf(endpoint.baseURL)
    chat.type('one\n')
    await chat.wrote('stdout', /^ok$/m)
    edit(`${appConfig.replace('toolName: research', 'toolName: a_scout')}\n- name: '@offshoot/tool-shell'\n`)
    await chat.wrote('stderr', /^reloaded: @offshoot\/tool-subagent restarted, @offshoot\/tool-shell added$/m)
    chat.type('two\n')
    chat.endInput()
    const { code, stdout } = await chat.finished
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'ok\nok\n' })
    const [first, second] = endpoint.requests.map(toolsOf)
    expect(first).toEqual(['research', 'task_kill', 'task_list', 'task_output'])
    expect(second).toEqual(['a_scout', 'shell', 'task_kill', 'task_list', 'task_output'])
  })

  it('lets a child finish whose tool the edit takes away', async () => {
    const finishes = gate()
    await using endpoint = await startEndpoint(request => {
      const last = lastMessageText(request)
      if (last === 'Go.') return { calls: [{ name: 'research', arguments: { description: 'count', prompt: 'Count.' } }] }
      if (last === 'Count.') return { hold: finishes.opened, text: 'four' }
      return { text: `I heard: ${last}` }
    })
    const { chat, edit } = await chatOf(endpoint.baseURL)
    chat.type('Go.\n')
    await chat.wrote('stderr', /count/)
    edit(appConfig.replace('toolName: research', 'toolName: scout'))
    await chat.wrote('stderr', /^reloaded/m)
    finishes.open()
    await chat.wrote('stdout', /I heard: .*four/)
    chat.endInput()
    expect(await chat.finished).toMatchObject({ code: 0 })
  })

  it('ends, and says so, where the edit restarts what the agent runs on: exit 1', async () => {
    await using endpoint = await startEndpoint(() => ({ text: 'ok' }))
    const { chat, edit } = await chatOf(endpoint.baseURL)
    chat.type('one\n')
    await chat.wrote('stdout', /^ok$/m)
    edit(appConfig.replace('\'@offshoot/runtime\'', '\'@offshoot/runtime\'\n  config: { agent: { persona: Be brief. } }'))
    const { code, stderr } = await chat.finished
    expect(code).toBe(1)
    expect(stderr).toContain('reloaded: @offshoot/runtime restarted\noffshoot: the agent went with what it ran on; the chat ends\n')
  })
})
