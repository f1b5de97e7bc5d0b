import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {} from '@offshoot/tools'
import { expect, it, onTestFinished } from 'vitest'
import { taskTools } from './support.ts'
import { type App, AppError, loadApp } from '@offshoot/loader'

const runtime = '- name: \'@offshoot/runtime\'\n'
const tool = (config: string) => `- name: '@offshoot/tool-subagent'\n  config: ${config}\n`

function load(yml: string): Promise<App> {
  const folder = mkdtempSync(join(tmpdir(), 'offshoot-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'cordis.yml'), yml)
  return loadApp(join(folder, 'cordis.yml'), { resolveFrom: [import.meta.url], conditions: ['offshoot-source'], log: () => {} })
}

/** The lines that a config is refused with, without its folder. */
async function refusal(yml: string): Promise<string[]> {
  const error: unknown = await load(yml).catch((reason: unknown) => reason)
  if (!(error instanceof AppError)) throw new Error('the app was not refused', { cause: error })
  return error.message.replaceAll(/[^\s(]*\/cordis\.yml/g, 'cordis.yml').split('\n')
}

const entry = (line: number, id = '@offshoot/tool-subagent') => `cordis.yml:${line}:3: entry "${id}" (@offshoot/tool-subagent): `

it('loads by its name from a config file, in any order, and goes with the app', async () => {
  const app = await load(tool('{ provider: spawn }') + runtime + tool('{ provider: spawn, toolName: research }'))
  const { core } = app.ctx.tools
  expect([...core.tools.keys()].sort()).toEqual(['research', 'subagent', ...taskTools])
  await app.dispose()
  expect([core.tools.size, core.claims.size]).toEqual([0, 0])
})

it('is refused, at its place in the file, for a provider that nobody registers', async () => {
  expect(await refusal(runtime + tool('{ provider: spwan, toolName: research }'))).toEqual([
    `${entry(2)}tool "research" waits for subagent provider "spwan", which nobody registers; did you mean "spawn"? (registered: fork, spawn)`,
  ])
})

it('is refused as the second instance of one tool name, naming both places', async () => {
  expect(await refusal(runtime + tool('{ provider: spawn }') + tool('{ provider: spawn }'))).toEqual([
    `${entry(4, '@offshoot/tool-subagent#2')}tool name "subagent" is already taken by tool-subagent (cordis.yml:2:3); give one of the two another name`,
  ])
})

it('is refused for a filter that says nothing, and for one that names a tool nobody offers', async () => {
  expect(await refusal(runtime + tool('{ provider: spawn, toolFilter: {} }') + tool('{ provider: spawn, toolName: b, toolFilter: { allow: [sub] } }'))).toEqual([
    `${entry(2)}toolFilter needs "allow" or "deny" (allow: [] hides every tool); leave it out for no filter`,
    `${entry(4, '@offshoot/tool-subagent#2')}toolFilter names a tool that nobody offers: "sub" (tools: b, ${taskTools.join(', ')})`,
  ])
})

it('loads without ctx.tasks, and waits for nothing', async () => {
  const services = ['session', 'model', 'tools', 'agent', 'subagent', 'subagent-spawn'].map(name => `- name: '@offshoot/${name}'\n`)
  const app = await load(services.join('') + tool('{ provider: spawn }'))
  expect(app.ctx.tools.list()).toEqual(['subagent'])
  await app.dispose()
})
