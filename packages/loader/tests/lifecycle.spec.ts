import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { AppError, type AppProblem, formatProblem, loadApp } from '../src/index.ts'
import { load, noting, shared, writeApp } from './support.ts'

afterEach(() => { vi.restoreAllMocks() })

/** What an app is refused with that has come to where `stuck` tells, once the clock runs on. */
async function whenTimeIsUp(folder: string, stuck: () => boolean): Promise<unknown> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const outcome: { error?: unknown } = {}
    const loading = loadApp(join(folder, 'cordis.yml'), { log: () => {} }).then(() => {}, (error: unknown) => { outcome.error = error })
    while (!stuck()) await new Promise(setImmediate)
    // The error that an import ends with reaches the loader in the turn after.
    await new Promise(setImmediate)
    while (!outcome.error) await vi.advanceTimersByTimeAsync(60_000)
    await loading
    return outcome.error
  } finally {
    vi.useRealTimers()
  }
}

const engine = 'export function apply(ctx) { ctx.provide("engine", {}) }'

describe('loading', () => {
  it('resolves once nothing loads any more, plugins inside plugins and late starters included', async () => {
    const { name, list } = shared()
    await load({
      'cordis.yml': '- name: ./user.mjs\n- name: ./bundle.mjs\n',
      'bundle.mjs': 'export function apply(ctx) { ctx.plugin({ name: "engine", async apply(inner) { await new Promise(setImmediate); inner.provide("engine", {}) } }) }',
      'user.mjs': `export const inject = ['engine']\nexport async function apply() { await new Promise(setImmediate); globalThis['${name}'].push('started') }`,
    })
    expect(list).toEqual(['started'])
  })

  it('names what is still loading when its time is up, and disposes the rest', async () => {
    const { name, list } = shared()
    const hangs = `globalThis['${name}'].push('hangs'); await new Promise(() => {})`
    const folder = writeApp({
      'cordis.yml': '- name: ./first.mjs\n- name: ./engine.mjs\n- name: ./hangs.mjs\n- name: ./bundle.mjs\n- name: ./last.mjs\n',
      'engine.mjs': engine,
      'first.mjs': noting(name, 'first'),
      'last.mjs': noting(name, 'last'),
      'hangs.mjs': `export const inject = ["engine"]\nexport async function apply() { ${hangs} }`,
      'bundle.mjs': `export async function apply(ctx) { await ctx.plugin({ name: "part", async apply() { ${hangs} } }) }`,
    })
    const error = await whenTimeIsUp(folder, () => list.length === 4)
    expect(error).toMatchObject({
      code: 'INVALID',
      problems: [
        { where: `${folder}/cordis.yml:3:3`, message: 'entry "./hangs.mjs" (./hangs.mjs): is still loading after 60 s; what its start-up awaits has not come' },
        { where: `${folder}/cordis.yml:4:3`, message: 'entry "./bundle.mjs" (./bundle.mjs): plugin "part": is still loading after 60 s; what its start-up awaits has not come' },
      ],
    })
    expect(list.filter(note => note !== 'hangs')).toEqual(['+first', '+last', '-last', '-first'])
  })

  it('names a module whose import does not end', async () => {
    const { name, list } = shared()
    const folder = writeApp({
      'cordis.yml': '- name: ./first.mjs\n- id: slow\n  name: ./hangs.mjs\n- name: ./throws.mjs\n',
      'first.mjs': noting(name, 'first'),
      'hangs.mjs': `globalThis['${name}'].push('hangs')\nawait new Promise(() => {})\nexport function apply() {}`,
      'throws.mjs': `globalThis['${name}'].push('throws')\nthrow new Error("broke")`,
    })
    const error = await whenTimeIsUp(folder, () => list.length === 2)
    expect(error).toMatchObject({
      problems: [
        { where: `${folder}/cordis.yml:2:3`, message: 'entry "slow" (./hangs.mjs): its module is still being imported after 60 s' },
        { message: 'entry "./throws.mjs" (./throws.mjs): cannot be imported: broke' },
      ],
    })
    expect(list).not.toContain('+first')
  })

  it('takes as long as `timeoutMs` says', async () => {
    const folder = writeApp({ 'cordis.yml': '- name: ./hangs.mjs\n', 'hangs.mjs': 'await new Promise(() => {})\nexport function apply() {}' })
    await expect(loadApp(join(folder, 'cordis.yml'), { timeoutMs: 20 })).rejects.toThrow('its module is still being imported after 0.02 s')
  })

  it('leaves nothing of an app that is refused', async () => {
    const { name, list } = shared()
    const folder = writeApp({
      'cordis.yml': '- name: ./first.mjs\n- name: ./broken.mjs\n- name: ./last.mjs\n',
      'first.mjs': noting(name, 'first'),
      'broken.mjs': `export function* apply() { yield () => globalThis['${name}'].push('-broken'); throw new Error('broke') }`,
      'last.mjs': noting(name, 'last'),
    })
    const error: unknown = await loadApp(join(folder, 'cordis.yml'), { log: () => {} }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ name: 'AppError', code: 'INVALID', problems: [{ error: expect.objectContaining({ message: 'broke' }) }] })
    expect(list).toEqual(['+first', '+last', '-broken', '-last', '-first'])
  })
})

describe('dispose()', () => {
  it('removes the entries last of the file first, each after the one below it is gone', async () => {
    const { name, list } = shared()
    const slow = (plugin: string) => `export function apply(ctx) {
      ctx.effect(() => async () => { globalThis['${name}'].push('${plugin} goes'); await new Promise(setImmediate); globalThis['${name}'].push('${plugin} gone') })
    }`
    const app = await load({
      'cordis.yml': '- name: ./a.mjs\n- name: group\n  group: true\n  config:\n    - name: ./b.mjs\n    - name: ./c.mjs\n- name: ./d.mjs\n',
      ...Object.fromEntries(['a', 'b', 'c', 'd'].map(plugin => [`${plugin}.mjs`, slow(plugin)])),
    })
    await app.dispose()
    expect(list).toEqual(['d', 'c', 'b', 'a'].flatMap(plugin => [`${plugin} goes`, `${plugin} gone`]))
  })

  it('lets agents finish before any plugin goes', async () => {
    const { name, list } = shared()
    const app = await load({
      'cordis.yml': '- name: ./agents.mjs\n- name: ./last.mjs\n',
      'last.mjs': noting(name, 'last'),
      'agents.mjs': `export function apply(ctx) {
        ctx.provide('agents', { async drain() { await new Promise(setImmediate); globalThis['${name}'].push('drained') } })
      }`,
    })
    await app.dispose()
    expect(list).toEqual(['+last', 'drained', '-last'])
  })

  it('is idempotent', async () => {
    const { name, list } = shared()
    const app = await load({ 'cordis.yml': '- name: ./a.mjs\n', 'a.mjs': noting(name, 'a') })
    const first = app.dispose()
    expect(app.dispose()).toBe(first)
    await first
    await app.dispose()
    expect(list).toEqual(['+a', '-a'])
  })

  it('does not reject for agents or plugins that cannot go quietly: the log has it', async () => {
    const { list } = shared()
    const app = await load({
      'cordis.yml': '- name: ./agents.mjs\n- name: ./stuck.mjs\n',
      'agents.mjs': 'export function apply(ctx) { ctx.provide("agents", { async drain() { throw new Error("one would not stop") } }) }',
      'stuck.mjs': 'export const name = "stuck"\nexport function apply(ctx) { ctx.effect(() => () => { throw new Error("stays") }) }',
    }, { log: (level, name, text) => list.push(`${level} ${name}: ${text}`) })
    await app.dispose()
    expect(list).toEqual(['error app: agents did not drain: one would not stop', 'error stuck: stays'])
  })
})

describe('once the app runs', () => {
  const late = {
    'cordis.yml': '- name: ./quiet.mjs\n- id: later\n  name: ./bundle.mjs\n',
    'quiet.mjs': 'export function apply() {}',
    'bundle.mjs': `
      export const inject = ['problems']
      export function apply(ctx) {
        ctx.plugin({ name: 'user', inject: ['engine'], apply(inner) { if (inner.engine.broken) throw new Error('no fuel') } })
        ctx.provide('report', error => ctx.problems.report(ctx, error))
        ctx.plugin({ name: 'seed', apply(inner) { inner.provide('engine', { broken: false }); inner.provide('swap', () => inner.fiber.dispose()) } })
      }
    `,
  }

  it('hands over each problem that is reported or that a plugin fails with, located, once', async () => {
    const problems: AppProblem[] = []
    const logged: string[] = []
    let handOver!: () => void
    const second = new Promise<void>((resolve) => { handOver = resolve })
    const app = await load(late, {
      onProblem: (problem) => { if (problems.push(problem) === 2) handOver() },
      log: (_, name, text) => logged.push(`${name}: ${text}`),
    })
    const { ctx } = app
    const error = new Error('the key was revoked')
    ctx.get('report')(error)
    await ctx.get('swap')()
    await ctx.plugin({ name: 'other-engine', apply: (inner: typeof ctx) => inner.provide('engine', { broken: true }) })
    await second
    await app.dispose()
    const where = `${app.file}:2:3`
    expect(problems.map(formatProblem)).toEqual([
      `${where}: entry "later" (./bundle.mjs): the key was revoked`,
      `${where}: entry "later" (./bundle.mjs): plugin "user": no fuel`,
    ])
    expect(problems[0]?.error).toBe(error)
    expect(logged).toEqual([])
  })

  it('logs problems where nobody takes them, and what a taker throws', async () => {
    const logged: string[] = []
    const log = (level: string, name: string, text: string) => logged.push(`${level} ${name}: ${text}`)
    const app = await load(late, { log })
    app.ctx.get('report')(new Error('first'))
    expect(logged).toEqual([`error app: ${app.file}:2:3: entry "later" (./bundle.mjs): first`])

    const other = await load(late, { log, onProblem: () => { throw new Error('cannot take it') } })
    other.ctx.get('report')(new Error('second'))
    expect(logged.at(-1)).toBe('error app: onProblem: cannot take it')
  })
})

describe('the log', () => {
  it('takes each line as one, with the errors that plugins log, but none that the loader reports', async () => {
    const logged: string[] = []
    const folder = writeApp({
      'cordis.yml': '- name: ./talks.mjs\n- name: ./broken.mjs\n- name: ./bundle.mjs\n',
      'talks.mjs': `export const name = 'talks'
        export function apply(ctx) {
          ctx.logger.info('up %s', 'and running\\n  again')
          ctx.logger.error(new TypeError('not so bad\\nreally'))
          ctx.logger.debug('not asked for')
        }`,
      'broken.mjs': 'export function apply() { throw new Error("broke", { cause: new Error("deeper") }) }',
      'bundle.mjs': `import z from 'schemastery'
        export function apply(ctx) { ctx.plugin({ name: 'part', Config: z.object({ a: z.string() }), apply() {} }, { a: 1 }) }`,
    })
    await expect(loadApp(join(folder, 'cordis.yml'), { log: (level, name, text) => logged.push(`${level} ${name}: ${text}`) })).rejects.toThrow(AppError)
    expect(logged).toEqual(['info talks: up and running again', 'error talks: TypeError: not so bad'])
  })

  it('goes to stderr by default, from warnings up', async () => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const folder = writeApp({
      'cordis.yml': '- name: ./talks.mjs\n',
      'talks.mjs': 'export const name = "talks"\nexport function apply(ctx) { ctx.logger.info("up"); ctx.logger.warn("careful") }',
    })
    await (await loadApp(join(folder, 'cordis.yml'))).dispose()
    expect(written.mock.calls.map(([text]) => text)).toEqual(['warn: talks: careful\n'])
  })
})
