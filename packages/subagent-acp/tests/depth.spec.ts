import { textOf } from '@offshoot/session'
import assert from 'node:assert/strict'
import { describe, expect, it, vi } from 'vitest'
import type { FakeAgentReport } from '../src/testing.ts'
import { type AcpApp, startApp } from './support.ts'

async function report({ start }: AcpApp, overrides?: Parameters<AcpApp['start']>[0]): Promise<FakeAgentReport> {
  await using run = await start(overrides)
  const { output, diagnostic } = await run.result
  assert.equal(diagnostic, undefined)
  return JSON.parse(textOf(output)) as FakeAgentReport
}

describe('a child learns', () => {
  it('its depth, and the deepest there may be, from its environment and from the session\'s _meta', async () => {
    const app = await startApp({ behaviour: { kind: 'report' } }, {}, { maxDepth: 2 })
    const { env, session } = await report(app)
    expect(env).toMatchObject({ OFFSHOOT_DEPTH: '1', OFFSHOOT_MAX_DEPTH: '2' })
    expect(session).toMatchObject({ _meta: { offshoot: { depth: 1, maxDepth: 2 } } })
  })

  it('a depth counted on from that of this process', async () => {
    vi.stubEnv('OFFSHOOT_DEPTH', '1')
    vi.stubEnv('OFFSHOOT_MAX_DEPTH', '2')
    const app = await startApp({ behaviour: { kind: 'report' } }, {}, { maxDepth: 9 })
    expect(app.parent.depth).toBe(1)
    expect((await report(app)).env).toMatchObject({ OFFSHOOT_DEPTH: '2', OFFSHOOT_MAX_DEPTH: '2' })
    const deeper = app.ctx.agents.create({ parent: app.parent })
    await expect(app.start({ parent: deeper })).rejects.toMatchObject({ code: 'DEPTH_LIMIT' })
  })

  it('nothing of where its host stands that is no number: that is refused', async () => {
    vi.stubEnv('OFFSHOOT_MAX_DEPTH', 'deep')
    await expect(startApp()).rejects.toThrow('OFFSHOOT_MAX_DEPTH must be a whole number, not "deep"')
  })

  it('its working directory: the start\'s, else the config\'s, else the parent\'s', async () => {
    const app = await startApp({ behaviour: { kind: 'report' } })
    expect(await report(app, { cwd: '/' })).toMatchObject({ cwd: '/', session: { cwd: '/' } })
    expect((await report(app)).cwd).toBe(app.parent.cwd)
    const configured = await startApp({ behaviour: { kind: 'report' } }, { cwd: '/usr' })
    expect((await report(configured)).cwd).toBe('/usr')
  })
})

describe('an environment', () => {
  it('has what every program needs and what the config names, and no other secret', async () => {
    vi.stubEnv('SECRET_MARKER_KEY', 'planted')
    vi.stubEnv('ANOTHER_TOKEN', 'planted')
    vi.stubEnv('NEEDED_API_KEY', 'needed')
    const app = await startApp({ behaviour: { kind: 'report' } }, { inheritEnv: ['NEEDED_API_KEY'], env: { MODEL_KEY: 'k' } })
    const { environmentNames } = await report(app)
    expect(environmentNames).toEqual(expect.arrayContaining(['PATH', 'HOME', 'NEEDED_API_KEY', 'MODEL_KEY']))
    expect(environmentNames).not.toContain('SECRET_MARKER_KEY')
    expect(environmentNames).not.toContain('ANOTHER_TOKEN')
  })

  it('and the command line never hold the task', async () => {
    const app = await startApp({ behaviour: { kind: 'report' } })
    const { argv, env } = await report(app, { prompt: 'a task that nobody else may see' })
    expect(JSON.stringify({ argv, env })).not.toContain('nobody else may see')
  })
})

describe('a depth limit', () => {
  it('is refused for an agent that is not Offshoot, and cannot keep to it', async () => {
    const app = await startApp({}, { depthLimit: true })
    await expect(app.start({ maxDepth: 2 })).rejects.toThrow(/depthLimit is set, and the agent is .*, which keeps to none/)
    expect(app.survivors()).toEqual([])
  })
})
