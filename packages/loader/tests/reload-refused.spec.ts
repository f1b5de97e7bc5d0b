import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { marked, marking, refusal, three, write } from './reloading.ts'
import { load, shared } from './support.ts'

describe('an edit that is wrong', () => {
  it.each([
    ['broken YAML', '- { id: a\n', 'cordis.yml:2:1: invalid YAML'],
    ['a wrong shape', '- name: ./a.mjs\n  confg: { mark: a }\n', 'cordis.yml:2:3: unknown entry key "confg"; did you mean "config"?'],
    ['a missing package', `${three()}- name: '@offshoot/tols'\n`, 'cordis.yml:4:3: entry "@offshoot/tols" (@offshoot/tols): package "@offshoot/tols" is not installed; did you mean'],
    ['an invalid config', three('1'), 'cordis.yml:2:3: entry "b" (./a.mjs): config key "mark": expected string but got 1'],
    ['an expression that throws', three('!!js nope'), 'cordis.yml:2:3: entry "b" (./a.mjs): config key "mark": !!js nope throws ReferenceError: nope is not defined'],
  ])('touches nothing: %s', async (_what, yml, line) => {
    const { app, list } = await marked(three())
    const [first, ...others] = await refusal(app, yml)
    expect(first?.slice(0, line.length)).toBe(line)
    expect(others).toEqual([])
    expect(list).toEqual([])
    expect(app.entries).toEqual(['a', 'b', 'c'])
  })

  it('touches nothing where there is no file', async () => {
    const { app, list } = await marked(three())
    rmSync(app.file)
    await expect(app.reload()).rejects.toMatchObject({ code: 'UNREADABLE' })
    expect(list).toEqual([])
  })

  it('is taken back where an entry fails as it starts: the old ones run again, with the old config', async () => {
    const { app, list } = await marked(three())
    const lines = await refusal(app, '- { id: new, name: ./a.mjs, config: { mark: new } }\n- { id: a, name: ./a.mjs, config: { mark: a } }\n- { id: b, name: ./a.mjs, config: { mark: b2, broken: true } }\n')
    expect(lines).toEqual(['cordis.yml:3:3: entry "b" (./a.mjs): b2 broke'])
    expect(list).toEqual(['-c', '-b', '+new', '+b2', '-b2', '-new', '+b', '+c'])
    expect(app.entries).toEqual(['a', 'b', 'c'])
  })

  it('is taken back where an entry would wait for a service in vain', async () => {
    const files = {
      'engine.mjs': 'export function apply(ctx) { ctx.provide("engine", {}) }',
      'user.mjs': 'export const inject = ["engine"]\nexport function apply(ctx) { LOG.push("+user"); ctx.effect(() => () => { LOG.push("-user") }) }',
    }
    const { app, list } = await marked('- name: ./engine.mjs\n- name: ./user.mjs\n', files)
    expect(await refusal(app, '\n- name: ./user.mjs\n')).toEqual(['cordis.yml:2:3: entry "./user.mjs" (./user.mjs): waits for service "engine": no loaded plugin provides it'])
    expect(list).toEqual(['-user', '+user'])
    expect(app.ctx.get('engine')).toBeDefined()
  })

  it('is taken back where a plugin says that something is wrong; what stood before is no reason', async () => {
    const { app } = await marked('- { id: judge, name: ./judge.mjs, config: fine }\n- { id: a, name: ./a.mjs, config: { mark: a } }\n', {
      'judge.mjs': `export const inject = ['problems']
        export function apply(ctx, config) {
          let verdict = config === 'fine' ? undefined : config
          ctx.problems.check(ctx, () => verdict)
          ctx.provide('spoil', text => { verdict = text })
        }`,
    })
    expect(await refusal(app, '- { id: judge, name: ./judge.mjs, config: too much }\n')).toEqual(['cordis.yml:1:3: entry "judge" (./judge.mjs): too much'])
    app.ctx.get('spoil')('spoilt')
    write(app, '- { id: judge, name: ./judge.mjs, config: fine }\n- { id: a, name: ./a.mjs, config: { mark: a2 } }\n')
    expect(await app.reload()).toMatchObject({ restarted: ['a'] })
  })

  it('says what cannot be started again as it was, and tries that at the next reload', async () => {
    const { app, list } = await marked('- { id: once, name: ./once.mjs, config: 1 }\n', {
      'once.mjs': 'export function apply(ctx, config) { LOG.push(config); if (LOG.block) throw new Error("is used up") }',
    })
    Object.assign(list, { block: true })
    expect(await refusal(app, '- { id: once, name: ./once.mjs, config: 2 }\n', 'NOT_RESTORED')).toEqual([
      'cordis.yml:1:3: entry "once" (./once.mjs): is used up',
      'cordis.yml:1:3: entry "once" (./once.mjs): is used up (as it was before, too)',
    ])
    Object.assign(list, { block: false })
    write(app, '- { id: once, name: ./once.mjs, config: 1 }\n')
    expect(await app.reload()).toMatchObject({ restarted: ['once'] })
    expect([...list]).toEqual([2, 1, 1])
  })

  it.each([
    ['an entry', 'export const inject = ["engine"]\nexport const apply = use', 'no fuel'],
    ['a plugin within one', 'export function apply(ctx) { ctx.plugin({ name: "part", inject: ["engine"], apply: use }) }', 'plugin "part": no fuel'],
  ])('starts again what failed because of it: %s', async (_what, plugin, message) => {
    const { app, list } = await marked('- { id: engine, name: ./engine.mjs, config: 1 }\n- { id: user, name: ./user.mjs }\n', {
      'engine.mjs': 'export function apply(ctx, config) { ctx.provide("engine", config) }',
      'user.mjs': `function use(ctx) { if (ctx.engine === 2) throw new Error("no fuel"); LOG.push(ctx.engine) }\n${plugin}`,
    })
    expect(await refusal(app, '- { id: engine, name: ./engine.mjs, config: 2 }\n- { id: user, name: ./user.mjs }\n')).toEqual([`cordis.yml:2:3: entry "user" (./user.mjs): ${message}`])
    expect(list).toEqual([1])
  })

  it('is taken back where an entry is still unloading when the time is up', async () => {
    const { name, list } = shared()
    const app = await load({
      'cordis.yml': three() + '- { id: stays, name: ./stays.mjs, config: 1 }\n',
      'a.mjs': marking(name),
      'stays.mjs': `export function apply(ctx, config) { globalThis['${name}'].push('+' + config); ctx.effect(() => () => config === 1 ? new Promise(() => {}) : undefined) }`,
    }, { timeoutMs: 50 })
    list.length = 0
    expect(await refusal(app, `${three('b2')}- { id: stays, name: ./stays.mjs, config: 2 }\n`)).toEqual([
      'cordis.yml:4:3: entry "stays" (./stays.mjs): is still unloading after 0.05 s',
    ])
    expect(list).toEqual(['-b', '+b2', '+2', '-b2', '+b', '+1'])
  })

  it('is taken back where an entry is still loading when the time is up, and what hangs is left to itself', async () => {
    const { name, list } = shared()
    const app = await load({
      'cordis.yml': '- { id: a, name: ./a.mjs, config: { mark: a } }\n',
      'a.mjs': marking(name),
      'hangs.mjs': 'export async function apply() { await new Promise(() => {}) }',
    }, { timeoutMs: 50 })
    expect(await refusal(app, '- { id: a, name: ./a.mjs, config: { mark: a2 } }\n- name: ./hangs.mjs\n')).toEqual([
      'cordis.yml:2:3: entry "./hangs.mjs" (./hangs.mjs): is still loading after 0.05 s; what its start-up awaits has not come',
    ])
    expect(list).toEqual(['+a', '-a', '+a2', '-a2', '+a'])
    write(app, '- { id: a, name: ./a.mjs, config: { mark: a3 } }\n')
    expect(await app.reload()).toMatchObject({ restarted: ['a'] })
  })
})
