import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { loadApp } from '../src/index.ts'
import { load, shared, writeApp } from './support.ts'

/** A plugin that hands its config over. */
const taking = (log: string) => `export function apply(ctx, config) { globalThis['${log}'].push(config) }`

describe('an entry', () => {
  it('is a package or a file, with a config that its plugin gets with the defaults filled in', async () => {
    const { name, list } = shared()
    const app = await load({
      'cordis.yml': '- name: ./plugins/one.mjs\n  config: { a: 1 }\n- name: ./two.mjs\n  config: [1, { b: 2 }]\n- name: ./two.mjs\n- id: tools\n  name: \'@offshoot/tools\'\n  label: The tools\n  collapsed: true\n',
      'plugins/one.mjs': `import z from 'schemastery'\nexport const Config = z.object({ a: z.number(), b: z.string().default('x') })\n${taking(name)}`,
      'two.mjs': taking(name),
    }, { conditions: ['offshoot-source'] })
    expect(list).toEqual([{ a: 1, b: 'x' }, [1, { b: 2 }], undefined])
    expect(app.ctx.get('tools')).toBeDefined()
  })

  it('gets its config through a schema that transforms it, once', async () => {
    const { name, list } = shared()
    await load({
      'cordis.yml': '- name: ./plugin.mjs\n  config: { size: 3 kb, dates: [{ at: 2026-01-31 }] }\n',
      'plugin.mjs': `import z from 'schemastery'
        const size = z.transform(z.string().pattern(/ kb$/), text => parseInt(text) * 1024)
        export const Config = z.object({ size, dates: z.array(z.object({ at: z.date() })) })
        ${taking(name)}`,
    })
    expect(list).toEqual([{ size: 3072, dates: [{ at: new Date('2026-01-31') }] }])
  })

  it('may come in JSON, and in an empty file not at all', async () => {
    const { name, list } = shared()
    const folder = writeApp({
      'app.json': '[\n\t{ "name": "./plugin.mjs",\n\t  "config": { "a": [true, null, "x"] } }\n]\n',
      'empty.yml': '# nothing yet\n',
      'plugin.mjs': taking(name),
    })
    for (const file of ['app.json', 'empty.yml']) await (await loadApp(join(folder, file))).dispose()
    expect(list).toEqual([{ a: [true, null, 'x'] }])
  })

  it('may be an alias of another one', async () => {
    const { name, list } = shared()
    await load({
      'cordis.yml': '- &one\n  name: ./plugin.mjs\n  config: &config { a: 1 }\n- *one\n- name: ./plugin.mjs\n  config: { inner: *config }\n',
      'plugin.mjs': taking(name),
    })
    expect(list).toEqual([{ a: 1 }, { a: 1 }, { inner: { a: 1 } }])
  })

  it('is neither imported nor judged while it is disabled', async () => {
    const { name, list } = shared()
    vi.stubEnv('OFFSHOOT_TEST_OFF', 'yes')
    try {
      await load({
        'cordis.yml': [
          '- { name: ./missing.mjs, disabled: true }',
          '- { name: ./plugin.mjs, config: 1, disabled: !!js process.env.OFFSHOOT_TEST_OFF === "yes" }',
          '- { name: ./plugin.mjs, config: 2, disabled: !!js process.env.OFFSHOOT_TEST_OFF !== "yes" }',
          '- { name: group, group: true, disabled: true, config: [{ name: ./plugin.mjs, config: 3 }] }',
          '- { name: ./plugin.mjs, config: 4, disabled: false }',
        ].join('\n'),
        'plugin.mjs': taking(name),
      })
    } finally {
      vi.unstubAllEnvs()
    }
    expect(list).toEqual([2, 4])
  })
})

describe('!!js', () => {
  it('is evaluated at any depth, with the context in scope', async () => {
    const { name, list } = shared()
    vi.stubEnv('OFFSHOOT_TEST_KEY', 'secret')
    try {
      await load({
        'cordis.yml': '- name: ./plugin.mjs\n  config:\n    key: !!js process.env.OFFSHOOT_TEST_KEY\n    port: !!js Number(process.env.OFFSHOOT_TEST_PORT ?? \'8080\')\n    list: [!!js 1 + 1, { here: !!js "baseUrl === ctx.baseUrl" }]\n    text: process.env.OFFSHOOT_TEST_KEY\n',
        'plugin.mjs': taking(name),
      })
    } finally {
      vi.unstubAllEnvs()
    }
    expect(list).toEqual([{ key: 'secret', port: 8080, list: [2, { here: true }], text: 'process.env.OFFSHOOT_TEST_KEY' }])
  })
})

describe('the context', () => {
  it('has the folder of the file as its baseUrl, for every plugin', async () => {
    const { name, list } = shared()
    const folder = writeApp({
      'cordis.yml': '- name: ./plugin.mjs\n',
      'plugin.mjs': `export function apply(ctx) { globalThis['${name}'].push(ctx.baseUrl) }`,
    })
    const app = await loadApp(join(folder, 'cordis.yml'))
    await app.dispose()
    expect(list).toEqual([pathToFileURL(folder).href + '/'])
    expect(app.ctx.baseUrl).toBe(list[0])
    expect(app.file).toBe(join(folder, 'cordis.yml'))
  })

  it('may be in use before the entry that provides a service is reached in the file', async () => {
    const { name, list } = shared()
    await load({
      'cordis.yml': '- name: ./user.mjs\n- name: ./engine.mjs\n',
      'user.mjs': `export const inject = ['engine']\nexport function apply(ctx) { globalThis['${name}'].push(ctx.engine.speed) }`,
      'engine.mjs': 'export async function apply(ctx) { await null; ctx.provide("engine", { speed: 3 }) }',
    })
    expect(list).toEqual([3])
  })
})

const engine = 'export function apply(ctx, speed) { ctx.provide("engine", { speed }) }'
const driver = (log: string) => `
  export function apply(ctx) {
    const seen = ctx.get('engine')?.speed
    globalThis['${log}'].push(seen)
  }
`

describe('inject', () => {
  it('makes an entry wait for services that its plugin does not ask for, and lets it read them', async () => {
    const { name, list } = shared()
    await load({
      'cordis.yml': '- { name: ./driver.mjs, inject: [engine] }\n- { name: ./driver.mjs }\n- { name: ./reader.mjs, inject: { engine: { gear: 2 } } }\n- { name: ./engine.mjs, config: 3 }\n',
      'driver.mjs': driver(name),
      'reader.mjs': `import { Context } from 'cordis'\nexport function apply(ctx) { globalThis['${name}'].push([ctx.engine.speed, ctx[Context.intercept].engine]) }`,
      'engine.mjs': engine,
    })
    expect(list).toEqual([undefined, 3, [3, { gear: 2 }]])
  })

  it('holds for all that a group contains', async () => {
    const { name, list } = shared()
    await load({
      'cordis.yml': '- name: group\n  group: true\n  inject: [engine]\n  config:\n    - name: ./driver.mjs\n- { name: ./engine.mjs, config: 3 }\n',
      'driver.mjs': driver(name),
      'engine.mjs': engine,
    })
    expect(list).toEqual([3])
  })
})

describe('isolate', () => {
  const files = (name: string) => ({ 'driver.mjs': `export const inject = ['engine']\n${driver(name)}`, 'engine.mjs': engine })

  it('gives an entry, or a group, a service of its own', async () => {
    const { name, list } = shared()
    await load({
      'cordis.yml': `
- { name: ./engine.mjs, config: 1 }
- name: group
  group: true
  isolate: { engine: true }
  config:
    - { name: ./engine.mjs, config: 2 }
    - { name: ./driver.mjs }
- { name: ./engine.mjs, config: 3, isolate: { engine: true } }
- { name: ./driver.mjs }
`,
      ...files(name),
    })
    expect(new Set(list)).toEqual(new Set([1, 2]))
  })

  it('lets entries with the same label share one', async () => {
    const { name, list } = shared()
    await load({
      'cordis.yml': `
- { name: ./engine.mjs, config: 1 }
- { name: ./engine.mjs, config: 2, isolate: { engine: race } }
- { name: ./driver.mjs, isolate: { engine: race } }
- { name: ./driver.mjs }
`,
      ...files(name),
    })
    expect(new Set(list)).toEqual(new Set([1, 2]))
  })

  it('is named where it hides the service that an entry waits for', async () => {
    const { name } = shared()
    await expect(load({
      'cordis.yml': '- { name: ./engine.mjs, isolate: { engine: true } }\n- { name: ./driver.mjs }\n',
      ...files(name),
    })).rejects.toThrow('cordis.yml:2:3: entry "./driver.mjs" (./driver.mjs): waits for service "engine": no loaded plugin provides it; "engine" is provided in another scope ("isolate")')
  })
})

describe('intercept', () => {
  it('configures a service for one entry', async () => {
    const { name, list } = shared()
    await load({
      'cordis.yml': '- { name: ./plugin.mjs, intercept: { logger: { name: quiet } } }\n- { name: ./plugin.mjs }\n',
      'plugin.mjs': 'export const name = "loud"\nexport function apply(ctx) { ctx.logger.warn("hello") }',
    }, { log: (_, by, text) => list.push(`${by}: ${text}`) }).then(app => app.dispose())
    expect(name).toBeTruthy()
    expect(list).toEqual(['quiet: hello', 'loud: hello'])
  })
})
