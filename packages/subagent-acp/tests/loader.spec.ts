import { loadApp } from '@offshoot/loader'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as acp from '../src/index.ts'

const file = fileURLToPath(new URL('cordis.yml', import.meta.url))
const options = { conditions: ['offshoot-source'], resolveFrom: [import.meta.url] }

it('loads by its name from a config file, before what it waits for, and goes with the app, with no listener left', async () => {
  const before = process.listenerCount('exit')
  const app = await loadApp(file, options)
  const { core } = app.ctx.subagents
  expect(core.list()).toEqual(['helper'])
  expect(core.getProvider('helper')).toMatchObject({ inheritsParentContext: false, capabilities: { outputSchema: false, depthLimit: false, toolFilter: false, persona: false } })
  await app.dispose()
  expect(core.list()).toEqual([])
  expect(process.listenerCount('exit')).toBe(before)
})

it('has no default export, which would hide `inject` and `Config` from the loader', () => {
  expect(acp).not.toHaveProperty('default')
})

describe('a config that cannot work is refused, with its place', () => {
  it.each([
    ['no command', '{}', 'missing config key "command"; expected string'],
    ['an empty command', '{ command: " " }', 'command must name a program'],
    ['a command line as command', '{ command: npx codex-acp }', 'command is one program, not a command line ("npx codex-acp"); put what follows it into "args"'],
    ['a relative path', '{ command: ./agent }', 'command must be a name on the PATH or an absolute path, not "./agent"; arguments go into "args"'],
    ['a relative folder', '{ command: agent, cwd: here }', 'cwd must be absolute, not "here"; leave it out for the parent\'s'],
    ['a server that is none', '{ command: agent, mcpServers: [{ name: docs }] }', 'mcpServers[0] ("docs") has neither a command nor the type http or sse; a server is {name, command, args?, env?} or {name, type: http | sse, url, headers?}'],
    ['servers by name', '{ command: agent, mcpServers: { docs: { command: docs } } }', 'config key "mcpServers": expected array but got { docs: { command: \'docs\' } }'],
    ['arguments of a server that are none', '{ command: agent, mcpServers: [{ name: a, command: a }, { name: docs, command: docs, args: --all }] }', 'mcpServers[1] ("docs") has args that are no texts; a server is {'],
    ['a rule that is none', '{ command: agent, permission: always }', 'config key "permission": expected "deny" | "allow-once" | "ask" | {'],
    ['a rule for a kind that is none', '{ command: agent, permission: { read: allow-always } }', 'config key "permission.read": expected "deny" | "allow-once" | "ask" but got "allow-always"'],
    ['a kind that is none', '{ command: agent, permission: { run: deny } }', 'unknown config key "permission.run" (keys: delete, edit, execute, '],
    ['an unknown key', '{ command: agent, arg: [] }', 'unknown config key "arg"; did you mean "args"?'],
    ['an unknown limit', '{ command: agent, timeouts: { idel: 1 } }', 'unknown config key "timeouts.idel"; did you mean "idle"?'],
    ['a limit in words', '{ command: agent, timeouts: { idle: 5m } }', 'config key "timeouts.idle": expected number but got "5m"'],
  ])('%s', async (_what, config, message) => {
    const dir = mkdtempSync(join(tmpdir(), 'offshoot-acp-'))
    onTestFinished(() => { rmSync(dir, { recursive: true }) })
    const path = join(dir, 'cordis.yml')
    writeFileSync(path, `- name: '@offshoot/runtime'\n- name: '@offshoot/subagent-acp'\n  config: ${config}\n`)
    const refused = await loadApp(path, options).then(app => app.dispose(), (error: unknown) => error)
    expect(refused).toMatchObject({ name: 'AppError' })
    expect((refused as Error).message).toContain(`${path}:2:3: entry "@offshoot/subagent-acp" (@offshoot/subagent-acp): ${message}`)
  })
})
