import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ModelService from '@offshoot/model'
import { Context } from 'cordis'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as plugin from '../src/index.ts'
import { app, callsOf, folder, refusal, textOf } from './support.ts'

const yaml = `
- when: { label: main, step: 1 }
  reasoning: A child can count.
  calls:
    - tool: subagent
      args: { description: count, prompt: 'Count: {{last}}' }
- when: { label: count }
  reply: three
`

describe('model-scripted', () => {
  it('registers its model as "main", or under the configured name', async () => {
    const ctx = await app()
    await ctx.plugin(plugin, { rules: [{ reply: 'main' }] })
    await ctx.plugin(plugin, { name: 'cheap', rules: [{ reply: 'cheap' }] })
    expect(ctx.models.list()).toEqual(['main', 'cheap'])
    expect([await textOf(ctx.models.get()), await textOf(ctx.models.get('cheap'))]).toEqual(['main', 'cheap'])
  })

  it('waits for ctx.models, and withdraws its model when it is unloaded', async () => {
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    const fiber = ctx.plugin(plugin, { rules: [{ reply: 'x' }] })
    await ctx.plugin(ModelService)
    await fiber
    expect(ctx.models.list()).toEqual(['main'])
    await fiber.dispose()
    expect(ctx.models.list()).toEqual([])
  })

  it.each([
    ['script.yml', yaml],
    ['script.yaml', yaml],
    ['script.json', JSON.stringify([{ when: { step: 1, label: 'main' }, calls: [{ tool: 'subagent', args: { description: 'count', prompt: 'Count: {{last}}' } }] }, { reply: 'three' }])],
    ['script.mjs', 'export default ({ label, last }) => label === "count" ? { reply: "three" } : { calls: [{ tool: "subagent", args: { description: "count", prompt: `Count: ${last}` } }] }'],
    ['script.js', 'export default async ({ label, last }) => label === "count" ? { reply: "three" } : { calls: [{ tool: "subagent", args: { description: "count", prompt: `Count: ${last}` } }] }'],
  ])('follows %s, beside the app\'s config file', async (name, text) => {
    const ctx = await app()
    const dir = await folder({ [name]: text, 'package.json': '{"type":"module"}' })
    ctx.baseUrl = `${pathToFileURL(dir).href}/`
    await ctx.plugin(plugin, { script: `./${name}` })
    expect(await callsOf(ctx.models.get())).toEqual([{ id: 'call_1', tool: 'subagent', args: { description: 'count', prompt: 'Count: hello' } }])
    expect(await textOf(ctx.models.get(), { label: 'count' })).toBe('three')
  })

  it('looks for the script in the working directory where no config file was loaded', async () => {
    expect(await refusal({ script: 'no-such.yml' })).toBe(
      `INVALID_SCRIPT: script ${join(process.cwd(), 'no-such.yml')}: cannot be read: ENOENT: no such file or directory, open '${join(process.cwd(), 'no-such.yml')}'`)
  })

  it('needs exactly one of "script" and "rules"', async () => {
    const sentence = 'INVALID_CONFIG: model "main" needs "script" (a file) or "rules" (a list), one of the two'
    expect(await refusal({})).toBe(sentence)
    expect(await refusal({ script: 'a.yml', rules: [{ reply: 'x' }] })).toBe(sentence)
  })

  it('leaves what is not configured absent', () => {
    expect(plugin.Config['~standard'].validate({})).toEqual({ value: { name: 'main' } })
  })

  it('has no default export, which would hide `inject` and `Config` from the loader', () => {
    expect(plugin).not.toHaveProperty('default')
  })
})

describe('a script file is refused at load, by its path', () => {
  it.each([
    ['a rule that is wrong', 'a.yml', '- reply: x\n- replay: x\n', 'rule 2: unknown key "replay"; did you mean "reply"?'],
    ['YAML that is none', 'a.yml', '- reply: [x\n', 'Flow sequence in block collection must be sufficiently indented and end with a ] at line 2, column 1'],
    ['a tag that YAML does not have', 'a.yml', '- reply: !!js 1+1\n', 'Unresolved tag: tag:yaml.org,2002:js at line 1, column 10'],
    ['a key twice', 'a.yml', '- reply: x\n  reply: y\n', 'Map keys must be unique at line 2, column 3'],
    ['JSON that is none', 'a.json', '[{"reply": "x"', 'at line 1'],
    ['no list', 'a.yml', 'reply: x\n', ': must be a list of rules, not {"reply":"x"}'],
    ['an empty file', 'a.yml', '', ': must be a list of rules, not null'],
    ['a module without a function', 'a.mjs', 'export default [{ reply: "x" }]', 'its default export must be a function, not [{"reply":"x"}]'],
    ['a module without a default export', 'a.mjs', 'export const x = 1', 'its default export must be a function, not nothing'],
    ['a module that throws', 'a.mjs', 'throw new Error("not today")', 'cannot be loaded: not today'],
    ['another extension', 'a.txt', '- reply: x', 'must end in .yml, .yaml, .json, .js, .mjs or .ts'],
  ])('%s', async (_what, name, text, sentence) => {
    const ctx = await app()
    const dir = await folder({ [name]: text })
    ctx.baseUrl = `${pathToFileURL(dir).href}/`
    const refused = await refusal({ script: name }, ctx)
    expect(refused.startsWith(`INVALID_SCRIPT: script ${join(dir, name)}`)).toBe(true)
    expect(refused).toContain(sentence)
    expect(refused).not.toContain('\n')
    expect(ctx.models.list()).toEqual([])
  })
})
