import { describe, expect, it, vi } from 'vitest'
import { gate } from '../../../tests/gate.ts'
import { marked, refusal, three, write } from './reloading.ts'
import { load } from './support.ts'

describe('reload()', () => {
  it('restarts the entry that changed, and no other', async () => {
    const { app, list } = await marked(three())
    write(app, three('b2'))
    expect(await app.reload()).toEqual({ added: [], restarted: ['b'], removed: [] })
    expect(list).toEqual(['-b', '+b2'])
    expect(app.entries).toEqual(['a', 'b', 'c'])
  })

  it('mounts what is new and disposes what is gone, and disposes the changed ones last of the file first', async () => {
    const { app, list } = await marked(three())
    write(app, '- { id: new, name: ./a.mjs, config: { mark: new } }\n- { id: c, name: ./a.mjs, config: { mark: c2 } }\n- { id: b, name: ./a.mjs, config: { mark: b } }\n')
    expect(await app.reload()).toEqual({ added: ['new'], restarted: ['c'], removed: ['a'] })
    expect(list).toEqual(['-c', '-a', '+new', '+c2'])
    expect(app.entries).toEqual(['new', 'c', 'b'])
  })

  it('leaves everything as it is where the file means the same', async () => {
    const { app, list } = await marked(three())
    write(app, `# moved down\n${three().split('\n').filter(Boolean).reverse().map(line => line.replace('{ mark: a }', '{ mark: !!js "\'a\'" }')).join('\n\n')}\n`)
    expect(await app.reload()).toEqual({ added: [], restarted: [], removed: [] })
    expect(list).toEqual([])
  })

  it.each([
    ['inject', '- { id: a, name: ./a.mjs, config: { mark: a }, inject: [problems] }\n'],
    ['intercept', '- { id: a, name: ./a.mjs, config: { mark: a }, intercept: { problems: { x: 1 } } }\n'],
    ['isolate', '- { id: a, name: ./a.mjs, config: { mark: a }, isolate: { other: true } }\n'],
  ])('restarts an entry whose %s changed', async (_what, yml) => {
    const { app, list } = await marked('- { id: a, name: ./a.mjs, config: { mark: a } }\n')
    write(app, yml)
    expect(await app.reload()).toEqual({ added: [], restarted: ['a'], removed: [] })
    expect(list).toEqual(['-a', '+a'])
  })

  it('evaluates `!!js` again: an entry is disabled, enabled or changed by what it says now', async () => {
    vi.stubEnv('OFFSHOOT_TEST_MARK', 'one')
    try {
      const { app, list } = await marked('- { id: a, name: ./a.mjs, config: { mark: !!js process.env.OFFSHOOT_TEST_MARK }, disabled: !!js process.env.OFFSHOOT_TEST_OFF }\n')
      vi.stubEnv('OFFSHOOT_TEST_MARK', 'two')
      expect(await app.reload()).toMatchObject({ restarted: ['a'] })
      vi.stubEnv('OFFSHOOT_TEST_OFF', 'yes')
      expect(await app.reload()).toMatchObject({ removed: ['a'] })
      vi.stubEnv('OFFSHOOT_TEST_OFF', '')
      expect(await app.reload()).toMatchObject({ added: ['a'] })
      expect(list).toEqual(['-one', '+two', '-two', '+two'])
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it('tells entries without an id apart by name, by what they say, and then by their order', async () => {
    const entry = (mark: string) => `- { name: ./a.mjs, config: { mark: ${mark} } }\n`
    const { app, list } = await marked(['one', 'two', 'three'].map(entry).join(''))
    write(app, ['two', 'three'].map(entry).join(''))
    expect(await app.reload()).toEqual({ added: [], restarted: [], removed: ['./a.mjs'] })
    write(app, ['two', 'third'].map(entry).join(''))
    expect(await app.reload()).toEqual({ added: [], restarted: ['./a.mjs#2'], removed: [] })
    expect(list).toEqual(['-one', '-three', '+third'])
  })

  it('has problems of an untouched entry where it stands now', async () => {
    const problems: string[] = []
    const app = await load({
      'cordis.yml': '- { id: late, name: ./late.mjs }\n',
      'late.mjs': 'export const inject = ["problems"]\nexport function apply(ctx) { ctx.provide("report", error => ctx.problems.report(ctx, error)) }',
    }, { onProblem: ({ where }) => { problems.push(where) } })
    write(app, '\n\n- { id: late, name: ./late.mjs }\n')
    await app.reload()
    app.ctx.get('report')(new Error('late'))
    expect(problems).toEqual([`${app.file}:3:3`])
  })

  it('restarts what depends on a service of a changed entry, and waits for it', async () => {
    const { app, list } = await marked('- { id: user, name: ./user.mjs }\n- { id: engine, name: ./engine.mjs, config: 1 }\n', {
      'engine.mjs': 'export async function apply(ctx, config) { await new Promise(setImmediate); ctx.provide("engine", config) }',
      'user.mjs': 'export const inject = ["engine"]\nexport async function apply(ctx) { await new Promise(setImmediate); LOG.push(ctx.engine) }',
    })
    write(app, '- { id: user, name: ./user.mjs }\n- { id: engine, name: ./engine.mjs, config: 2 }\n')
    expect(await app.reload()).toEqual({ added: [], restarted: ['engine'], removed: [] })
    expect(list).toEqual([2])
  })
})

describe('in a group', () => {
  const group = (marks: readonly string[], more = '') => `- name: group\n  group: true\n${more}  config:\n${marks.map(mark => `    - { id: ${mark[0]}, name: ./a.mjs, config: { mark: ${mark} } }\n`).join('')}`

  it('an entry that changed restarts alone, a new one starts and one that is gone ends', async () => {
    const { app, list } = await marked(group(['a', 'b', 'c']))
    write(app, group(['a', 'b2', 'd']))
    expect(await app.reload()).toEqual({ added: ['d'], restarted: ['b'], removed: ['c'] })
    expect(list).toEqual(['-c', '-b', '+b2', '+d'])
    expect(app.entries).toEqual(['group', 'a', 'b', 'd'])
    list.length = 0
    await app.dispose()
    expect(list).toEqual(['-d', '-b2', '-a'])
  })

  it('everything restarts with a group that itself changed', async () => {
    const { app, list } = await marked(group(['a', 'b']))
    write(app, group(['a', 'b'], '  isolate: { engine: true }\n'))
    expect(await app.reload()).toEqual({ added: [], restarted: ['group'], removed: [] })
    expect(list).toEqual(['-b', '-a', '+a', '+b'])
  })

  it('an edit that fails is taken back', async () => {
    const { app, list } = await marked(group(['a', 'b']))
    expect(await refusal(app, group(['a', 'b, broken: true']))).toEqual(['cordis.yml:5:7: entry "b" (./a.mjs): b broke'])
    expect(list).toEqual(['-b', '+b', '-b', '+b'])
  })

  it('entries start once where the group waits for a service that changes too', async () => {
    const engine = (config: number) => `- { id: engine, name: ./engine.mjs, config: ${config} }\n`
    const { app, list } = await marked(engine(1) + group(['a', 'b'], '  inject: [engine]\n'), {
      'engine.mjs': 'export async function apply(ctx, config) { await new Promise(setImmediate); ctx.provide("engine", config) }',
    })
    write(app, engine(2) + group(['a', 'b2'], '  inject: [engine]\n'))
    expect(await app.reload()).toEqual({ added: [], restarted: ['engine', 'b'], removed: [] })
    expect(list).toEqual(['-b', '-a', '+a', '+b2'])
  })

  it('an entry that moves into it is restarted there', async () => {
    const { app, list } = await marked(`- { id: a, name: ./a.mjs, config: { mark: a } }\n${group(['b'])}`)
    write(app, group(['a', 'b']))
    expect(await app.reload()).toEqual({ added: [], restarted: ['a'], removed: [] })
    expect(list).toEqual(['-a', '+a'])
  })
})

describe('reloads', () => {
  it('that overlap run one after the other, each with what the file says then', async () => {
    const { app, list } = await marked(three())
    write(app, three('b2'))
    const first = app.reload()
    const second = first.then(() => { write(app, three('b3')) })
    const third = app.reload()
    await second
    expect(await first).toMatchObject({ restarted: ['b'] })
    const { restarted } = await third
    await app.reload()
    expect(restarted).toEqual(['b'])
    expect(list).toEqual(['-b', '+b2', '-b2', '+b3'])
  })

  it('are refused once the app ends, and after', async () => {
    const { app, list } = await marked(three())
    write(app, three('b2'))
    const disposal = app.dispose()
    await expect(app.reload()).rejects.toMatchObject({ code: 'CLOSED', message: expect.stringContaining('the app ends') })
    await disposal
    await expect(app.reload()).rejects.toMatchObject({ code: 'CLOSED' })
    expect(list).toEqual(['-c', '-b', '-a'])
  })

  it('that run are cut short by the end of the app, which leaves nothing', async () => {
    const started = gate()
    const { app, list } = await marked('- { id: a, name: ./a.mjs, config: { mark: a } }\n- { id: slow, name: ./slow.mjs, config: 1 }\n', {
      'slow.mjs': `export async function apply(ctx, config) {
        ctx.effect(() => () => { LOG.push('-slow') })
        if (config === 2) { LOG.started(); await LOG.untilDisposed }
      }`,
    })
    const disposed = gate()
    Object.assign(list, { started: started.open, untilDisposed: disposed.opened })
    write(app, '- { id: a, name: ./a.mjs, config: { mark: a } }\n- { id: slow, name: ./slow.mjs, config: 2 }\n')
    const reload = app.reload().catch((error: unknown) => error)
    await started.opened
    const disposal = app.dispose()
    expect(await reload).toMatchObject({ code: 'CLOSED' })
    disposed.open()
    await disposal
    expect([...list]).toEqual(['-slow', '-slow', '-a'])
  })
})
