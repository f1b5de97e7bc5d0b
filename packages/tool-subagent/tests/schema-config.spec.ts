import { type App, AppError, loadApp } from '@offshoot/loader'
import ProblemsService from '@offshoot/problems'
import * as runtime from '@offshoot/runtime'
import type { SubagentProvider } from '@offshoot/subagent'
import { Context } from 'cordis'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as toolSubagent from '../src/index.ts'
import { settled } from './support.ts'

/** An app with one tool whose `outputSchema` has the lines of `schema`. */
function load(schema: string): Promise<App> {
  const folder = mkdtempSync(join(tmpdir(), 'offshoot-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'cordis.yml'), [
    '- name: \'@offshoot/runtime\'',
    '- name: \'@offshoot/tool-subagent\'',
    '  config:',
    '    provider: spawn',
    `    outputSchema: ${schema}`,
  ].join('\n'))
  return loadApp(join(folder, 'cordis.yml'), { resolveFrom: [import.meta.url], conditions: ['offshoot-source'], log: () => {} })
}

describe('outputSchema in the config', () => {
  it('loads from YAML', async () => {
    const app = await load('{ type: object, properties: { verdict: { enum: [clean, dirty] } }, required: [verdict] }')
    expect(app.ctx.tools.list()).toContain('subagent')
    await app.dispose()
  })

  it.each([
    ['is no JSON Schema', '{ type: object, properties: { verdict: { type: strng } } }', /outputSchema is no JSON Schema: properties\.verdict\.type: does not match any of /],
    ['describes no object', '{ type: string }', /outputSchema must describe an object/],
    ['refers outside itself', '{ type: object, properties: { verdict: { $ref: "verdict.json" } } }', /outputSchema refers to "verdict\.json", which is not in it/],
    ['is empty', '', /outputSchema must be a JSON Schema as an object/],
  ])('that %s is refused at load, at its place in the file', async (_what, schema, message) => {
    const error: unknown = await load(schema).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(AppError)
    expect((error as AppError).message).toMatch(/cordis\.yml:2:3: entry "@offshoot\/tool-subagent"/)
    expect((error as AppError).message).toMatch(message)
  })

  it('is left as it is, and absent where it is absent', () => {
    const outputSchema = { type: 'object', properties: { type: { type: 'string' }, list: { type: 'array' } }, default: {} }
    expect(toolSubagent.Config({ provider: 'spawn', outputSchema }).outputSchema).toEqual({ type: 'object', properties: { type: { type: 'string' }, list: { type: 'array' } }, default: {} })
    expect(toolSubagent.Config({ provider: 'spawn' })).not.toHaveProperty('outputSchema')
  })

  it('that the provider cannot honour: a problem that says so, and the tool does not mount, until a provider can', async () => {
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    await ctx.plugin(ProblemsService, { locate: () => undefined })
    await ctx.plugin(runtime, {})
    await settled(ctx)
    const provider: SubagentProvider = {
      name: 'helper', inheritsParentContext: false, capabilities: { outputSchema: false, depthLimit: true, toolFilter: false, persona: false },
      start: () => Promise.reject(new Error('not started here')),
    }
    const remove = ctx.subagents.registerProvider(provider)
    await ctx.plugin(toolSubagent, { provider: 'helper', outputSchema: { type: 'object' } })
    await settled(ctx)
    const problems = (): string[] => ctx.problems.list().map(({ message }) => message)
    expect(ctx.tools.list()).not.toContain('subagent')
    expect(problems()).toEqual(['subagent provider "helper" does not support outputSchema (capability outputSchema; it has: depthLimit); leave outputSchema out or use another provider'])
    await remove()
    ctx.subagents.registerProvider({ ...provider, capabilities: { ...provider.capabilities, outputSchema: true } })
    expect(ctx.tools.list()).toContain('subagent')
    expect(problems()).toEqual([])
  })
})
