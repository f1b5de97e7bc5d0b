import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { offshootHere as offshoot } from './here.ts'
import { appConfig, folderWith } from './support.ts'

const env = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }

describe('bad usage exits with 2 and says what would work', () => {
  it.each<[string, string[], string]>([
    ['an unknown command', ['chekc'], 'offshoot: unknown command "chekc"; did you mean "check"? (commands: acp, chat, check, doctor, init, run, start)\n'],
    ['an unknown option of a command', ['run', '--jsno', 'Go.'], 'offshoot: Unknown option `--jsno`; see offshoot --help\n'],
    ['an unknown option alone', ['--frob'], 'offshoot: unknown option "--frob"; see offshoot --help\n'],
    ['an option without its value', ['run', 'Go.', '-c'], 'offshoot: option `-c, --config <file>` value is missing; see offshoot --help\n'],
    ['an unknown policy', ['run', '--drain', 'now', 'Go.'], 'offshoot run: --drain is "wait" or "cancel", not "now"\n'],
    ['a policy without a value', ['run', 'Go.', '--drain'], 'offshoot: option `--drain <policy>` value is missing; see offshoot --help\n'],
    ['no task at all', ['run'], 'offshoot run: no task; nothing was given and standard input is empty\n'],
    ['a blank task', ['run', '  '], 'offshoot run: no task; nothing was given and standard input is empty\n'],
    ['a working directory that is not there', ['run', '--cwd', 'nowhere', 'Go.'], 'offshoot run: --cwd nowhere is no folder\n'],
    ['a working directory of a chat that is not there', ['chat', '--cwd', 'nowhere'], 'offshoot chat: --cwd nowhere is no folder\n'],
    ['a task for a chat', ['chat', 'Go.'], 'offshoot: Unused args: `Go.`; see offshoot --help\n'],
    ['a config file that is not there', ['run', '-c', 'nope.yml', 'Go.'], 'nope.yml: there is no such file; write one with: offshoot init\n'],
  ])('%s', async (_what, args, message) => {
    const cwd = folderWith({ 'cordis.yml': appConfig })
    expect(await offshoot(args, { cwd, env })).toEqual({ code: 2, stdout: '', stderr: message })
  })

  it('a config without agents', async () => {
    const cwd = folderWith({ 'cordis.yml': '[]\n' })
    for (const command of [['run', 'Go.'], ['chat']]) expect(await offshoot(command, { cwd })).toEqual({ code: 2, stdout: '', stderr: 'cordis.yml: no entry provides agents; add: - name: \'@offshoot/runtime\'\n' })
  })

  it('a config without a model', async () => {
    const cwd = folderWith({ 'cordis.yml': '- name: \'@offshoot/runtime\'\n' })
    for (const command of ['check', 'chat']) expect(await offshoot([command], { cwd })).toEqual({ code: 2, stdout: '', stderr: 'cordis.yml: no model is registered; load one, for example @offshoot/model-ai-sdk\n' })
  })

  it('a broken config: one line a problem, each with its place, and no stack trace', async () => {
    const cwd = folderWith({
      'cordis.yml': `- name: '@offshoot/runtime'
  config: { agnet: {} }
- name: '@offshoot/model-ai-sdk'
  config: { baseURL: !!js process.env.OFFSHOOT_NOT_SET, model: m }
- name: '@offshoot/tool-subagent'
  config: { provider: spwan }
- name: '@offshoot/tool-subagnet'
`,
    })
    for (const command of [['check'], ['run', 'Go.']]) {
      const { code, stdout, stderr } = await offshoot(command, { cwd })
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      const lines = stderr.trimEnd().split('\n')
      expect(lines.map(line => /^cordis\.yml:\d+:\d+(?=: )/.exec(line)?.[0])).toEqual(['cordis.yml:1:3', 'cordis.yml:3:3', 'cordis.yml:5:3', 'cordis.yml:7:3'])
      expect(lines[0]).toContain('"agnet"')
      expect(lines[1]).toContain('OFFSHOOT_NOT_SET is not set')
      expect(lines[3]).toContain('@offshoot/tool-subagent')
    }
  })
})

describe('offshoot check', () => {
  it('says that a config is right, and what the app has', async () => {
    const cwd = folderWith({ 'cordis.yml': appConfig })
    expect(await offshoot(['check'], { cwd, env })).toEqual({
      code: 0, stderr: '',
      stdout: 'cordis.yml: ok\n  models:     main (default)\n  tools:      research, task_kill, task_list, task_output\n  delegation: spawn, fork\n',
    })
  })
})

describe('offshoot init', () => {
  it('writes a config that checks and runs as it stands, delegation included', async () => {
    const cwd = folderWith()
    const made = await offshoot(['init', 'app'], { cwd })
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(made.stdout).toContain('cd app\n')
    const app = join(cwd, 'app')
    expect(await offshoot(['check'], { cwd: app })).toMatchObject({ code: 0, stderr: '' })
    const { code, stdout, stderr } = await offshoot(['run', 'What is in this folder?'], { cwd: app })
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('cordis.yml') })
    expect(stderr).toContain('└─ run-1 research "look around" completed')
  })

  it('replaces a config only when told to', async () => {
    const cwd = folderWith({ 'cordis.yml': 'mine' })
    expect(await offshoot(['init'], { cwd })).toEqual({ code: 2, stdout: '', stderr: 'cordis.yml is there already; replace it with: offshoot init --force\n' })
    expect(readFileSync(join(cwd, 'cordis.yml'), 'utf8')).toBe('mine')
    expect(await offshoot(['init', '--force'], { cwd })).toMatchObject({ code: 0 })
    expect(readFileSync(join(cwd, 'cordis.yml'), 'utf8')).toContain('@offshoot/runtime')
  })
})

describe('help', () => {
  it.each([['--help'], ['run', '--help'], ['-h']])('%s %s goes to stdout, with the exit codes', async (...args) => {
    const { code, stdout, stderr } = await offshoot(args.filter(arg => arg !== undefined), { cwd: folderWith() })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('Exit codes:')
  })

  it('is what a bare command shows', async () => {
    const { code, stdout } = await offshoot([], { cwd: folderWith() })
    expect(code).toBe(2)
    expect(stdout).toContain('run [...task]')
  })

  it('--version names the version', async () => {
    expect(await offshoot(['--version'], { cwd: folderWith() })).toMatchObject({ code: 0, stdout: expect.stringMatching(/^offshoot\/\d+\.\d+\.\d+/) })
  })
})
