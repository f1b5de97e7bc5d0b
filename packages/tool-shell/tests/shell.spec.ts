import { readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { afterEach, describe, expect, it, vi } from 'vitest'
import * as toolShell from '../src/index.ts'
import { app, folder } from './support.ts'

afterEach(() => { vi.unstubAllEnvs() })

describe('the plugin', () => {
  it('offers shell for as long as it is loaded', async () => {
    const { ctx, fiber } = await app()
    expect(ctx.tools.list()).toEqual(['shell'])
    expect(ctx.tools.view().get('shell')).toMatchObject({ effect: 'execute', concurrency: 'exclusive' })
    await fiber.dispose()
    expect(ctx.tools.list()).toEqual([])
  })

  it('has no default export, which would hide `inject` and `Config` from the loader', () => {
    expect(toolShell).not.toHaveProperty('default')
  })

  it('uses bash where there is one', async () => {
    const { ctx, shell } = await app()
    expect(await shell('echo "${BASH_VERSION:+bash}"')).toBe('bash\n')
    expect(ctx.tools.view().get('shell')?.spec.description).toContain('Run a command with bash in')
  })

  it.each(['sh', '/bin/sh'])('uses the shell it is told to: %s', async asked => {
    const { ctx, shell } = await app({ shell: asked })
    expect(await shell('echo $0')).toMatch(/^\/.*\/sh\n$/)
    expect(ctx.tools.view().get('shell')?.spec.description).toContain('Run a command with sh in')
  })

  it.each(['no-such-shell', '/no/such/shell', './sh', '/tmp'])('does not load with a shell that is not there: %s', async asked => {
    await expect(app({ shell: asked })).rejects.toThrow(expect.objectContaining({ code: 'NO_SHELL', message: expect.stringContaining(`no shell "${asked}"`) }))
  })
})

describe('a command', () => {
  it('answers what it writes', async () => {
    const { shell } = await app()
    expect(await shell('echo one; printf two')).toBe('one\ntwo')
  })

  it('answers stdout and stderr in the order in which they were written', async () => {
    const { shell } = await app()
    const lines = Array.from({ length: 200 }, (_, at) => at)
    expect(await shell('for i in $(seq 0 2 198); do echo $i; echo $((i+1)) >&2; done')).toBe(`${lines.join('\n')}\n`)
  })

  it('says that there was no output', async () => {
    const { shell } = await app()
    expect(await shell('true')).toBe('[no output]')
  })

  it('that fails is a result with its exit code, not an error', async () => {
    const { shell } = await app()
    expect(await shell('echo out; echo err >&2; exit 3')).toBe('out\nerr\n[exit code 3]')
    expect(await shell('false')).toBe('[exit code 1]')
    expect(await shell('printf cut; exit 4')).toBe('cut\n[exit code 4]')
    expect(await shell('no-such-command-here')).toMatch(/no-such-command-here: command not found\n\[exit code 127\]$/)
  })

  it('that a signal ends says so', async () => {
    const { shell } = await app()
    expect(await shell('echo before; kill -SEGV $$')).toBe('before\n[ended by SIGSEGV]')
  })

  it('runs in the working directory of the agent, whatever that of the process is', async () => {
    const cwd = folder()
    const { shell } = await app({}, cwd)
    writeFileSync(join(cwd, 'here.txt'), 'here')
    const before = process.cwd()
    expect(await shell('pwd; cat here.txt')).toBe(`${cwd}\nhere`)
    expect(await shell('cd /; pwd')).toBe('/\n')
    expect(await shell('pwd')).toBe(`${cwd}\n`)
    expect(process.cwd()).toBe(before)
  })

  it('sees the working directory by the name that the agent has for it', async () => {
    const link = join(folder(), 'link')
    symlinkSync(folder(), link)
    const { shell } = await app({}, link)
    expect(await shell('pwd; pwd -P')).toBe(`${link}\n${realpathSync(link)}\n`)
  })

  it('has no input and no terminal', async () => {
    const { shell } = await app()
    expect(await shell('cat; read -r line; echo "$? [$line]"; test -t 0 || test -t 1 || test -t 2; echo $?; (: </dev/tty) 2>&1 | grep -c /dev/tty')).toBe('1 []\n1\n1\n')
  })

  it('is taken as it is: quotes, lines, a leading dash', async () => {
    const { shell } = await app()
    expect(await shell('cat <<\'END\'\n$HOME "quoted" \\n\nEND\necho \'it\'"\'"\'s\'')).toBe('$HOME "quoted" \\n\nit\'s\n')
    expect(await shell('-x')).toMatch(/-x: command not found\n\[exit code 127\]$/)
    expect(await shell('(')).toMatch(/syntax error.*\n\[exit code \d\]$/s)
  })

  it('runs beside another one', async () => {
    const cwd = folder()
    const { shell } = await app({}, cwd)
    const meet = (own: string, other: string) => `mkfifo ${own} 2>/dev/null; until [ -e ${other} ]; do :; done; echo met`
    expect(await Promise.all([shell(meet('a', 'b')), shell(meet('b', 'a'))])).toEqual(['met\n', 'met\n'])
  })

  it.each([
    [{ command: 1 }, 'command: expected string'],
    [{ command: '' }, 'command: '],
    [{ command: 'true', timeout_ms: 0 }, 'timeout_ms: '],
    [{ command: 'true', timeout_ms: 600_001 }, 'timeout_ms: '],
  ])('is refused with the arguments %j', async (args, says) => {
    const { shell } = await app()
    expect(await shell('true', args)).toContain(`Error: invalid arguments for "shell": ${says}`)
  })

  it('may take as long as timeoutMs says, even where that is more than a call may ask for', async () => {
    const { shell } = await app({ timeoutMs: 900_000 })
    expect(await shell('echo ok', { timeout_ms: 900_000 })).toBe('ok\n')
  })

  it('is refused without a calling agent, without its folder, with a NUL', async () => {
    expect(await (await app({}, '/no/such/folder')).shell('true')).toMatch(/^Error: the working directory "\/no\/such\/folder" cannot be used: ENOENT/)
    expect(await (await app({}, '/dev/null')).shell('true')).toBe('Error: the working directory "/dev/null" is not a folder')
    expect(await (await app()).shell('echo a\0b')).toBe('Error: a command cannot hold a NUL character')
    const { ctx } = await app()
    expect(await ctx.tools.view().execute('shell', { command: 'true' }, { callId: 'c1' })).toMatchObject({
      isError: true, content: [{ text: 'Error: shell requires a calling agent (exec.agent was undefined)' }],
    })
  })

  it('that is too long for the system is an error', async () => {
    const { shell } = await app()
    expect(await shell(`: ${'x'.repeat(4_000_000)}`)).toMatch(/^Error: the shell could not be started: .*E2BIG/)
  })
})

describe('long output', () => {
  const numbers = (to: number): string => Array.from({ length: to }, (_, at) => `${at + 1}\n`).join('')
  const readFile = defineTool({ name: 'read_file', description: 'Reads.', parameters: Type.Object({}), execute: () => '' })

  it('is cut in the middle, and whole in a spill', async () => {
    const { ctx, shell } = await app({ maxOutputBytes: 100 })
    ctx.tools.register(readFile)
    const text = await shell('seq 1 10000; exit 2')
    const whole = numbers(10_000)
    const [, cut, id] = /\n\[(\d+) bytes cut here; the whole output: read_file \{"path": "spill:(.*)"\}\]\n/.exec(text)!
    expect(Number(cut)).toBe(whole.length - 100)
    expect(text.startsWith(whole.slice(0, 50))).toBe(true)
    expect(text.endsWith(`${whole.slice(-50)}[exit code 2]`)).toBe(true)
    expect(readFileSync(ctx.tools.core.spills.path(id!)!, 'utf8')).toBe(whole)
  })

  it('is told without read_file, where the agent has none', async () => {
    const { shell } = await app({ maxOutputBytes: 100 })
    expect(await shell('seq 1 10000')).toMatch(/\n\[\d+ bytes cut here; the whole output: spill:\w+, which no tool of yours reads\]\n/)
  })

  it('is the same result each time', async () => {
    const { shell } = await app({ maxOutputBytes: 100 })
    expect(await shell('seq 1 10000')).toBe(await shell('seq 1 10000'))
  })

  it.each<[Parameters<typeof app>[0], Parameters<typeof app>[2], number, string]>([
    [{}, {}, 30_000, 'its default'],
    [{}, { maxOutputBytes: 10_000 }, 8000, 'what the app leaves room for'],
    [{}, { maxStepOutputBytes: 10_000 }, 8000, 'what a step leaves room for'],
    [{ maxOutputBytes: 150_000 }, {}, 150_000, 'its own limit, before the app\'s'],
  ])('is kept to so much, and cut once (config %j, of the app %j: %i bytes, %s)', async (config, limits, bytes) => {
    const { ctx, shell } = await app(config, undefined, limits)
    const whole = numbers(100_000)
    const [head, , tail] = (await shell('seq 1 100000; exit 3')).split(/\n(\[\d+ bytes cut here;.*\])\n/)
    expect(head).toBe(whole.slice(0, bytes / 2))
    expect(tail).toBe(`${whole.slice(-bytes / 2)}[exit code 3]`)
    expect(ctx.tools.core.output.maxBytes(ctx.tools.view().get('shell'))).toBeGreaterThanOrEqual(bytes)
  })
})

describe('the environment', () => {
  const secrets = [
    'OPENAI_API_KEY', 'API_KEY', 'APIKEY', 'OPENAI_KEY', 'AWS_SECRET_ACCESS_KEY', 'GH_TOKEN', 'ANTHROPIC_AUTH_TOKEN', 'npm_config__authToken',
    'CLIENT_SECRET', 'DB_PASSWORD', 'PGPASSWORD', 'MYSQL_PWD', 'GITHUB_PAT', 'GOOGLE_APPLICATION_CREDENTIALS', 'API_KEYS', 'OPENAI_API_KEY_2', 'api_key',
  ]
  const plain = ['KEYBOARD', 'TOKENIZERS_PARALLELISM', 'MONKEY', 'SSH_AUTH_SOCK', 'PASSWORD_STORE_DIR', 'COMPAT', 'OFFSHOOT_PLAIN']

  function stub() {
    for (const name of [...secrets, ...plain]) vi.stubEnv(name, `value of ${name}`)
  }

  it('is that of the process less what looks like a secret', async () => {
    stub()
    const { shell } = await app()
    const names = (await shell('env')).split('\n').map(line => line.split('=')[0]!)
    expect(names).toEqual(expect.arrayContaining([...plain, 'PATH', 'PWD']))
    expect(names.filter(name => secrets.includes(name))).toEqual([])
  })

  it('passes on what inheritEnv names, and sets what env holds, over all else', async () => {
    stub()
    const { shell } = await app({ inheritEnv: ['GH_TOKEN'], env: { OFFSHOOT_PLAIN: 'set', API_KEY: 'set too' } })
    expect(await shell('echo "$GH_TOKEN, $OFFSHOOT_PLAIN, $API_KEY, $DB_PASSWORD."')).toBe('value of GH_TOKEN, set, set too, .\n')
  })
})
