import { once } from 'node:events'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { type App, type AppError, type ReloadResult, watchApp, type WatchOptions } from '../src/index.ts'
import { load } from './support.ts'

const yml = (...ids: string[]) => ids.map(id => `- { id: ${id}, name: ./quiet.mjs }\n`).join('') || '[]\n'

/** What a watched app has to tell, one after the other. */
class Watched {
  private readonly told: (ReloadResult | AppError)[] = []
  private readonly target = new EventTarget()
  readonly app: App
  readonly stop: () => void

  constructor(app: App, options: Pick<WatchOptions, 'signal'> = {}) {
    this.app = app
    const tell = (what: ReloadResult | AppError) => {
      this.told.push(what)
      this.target.dispatchEvent(new Event('told'))
    }
    this.stop = watchApp(app, { onReload: tell, onRefused: tell, ...options })
  }

  async next(): Promise<ReloadResult | AppError> {
    if (this.told.length === 0) await once(this.target, 'told')
    return this.told.shift()!
  }

  get pending(): number {
    return this.told.length
  }
}

function start(...ids: string[]): Promise<App> {
  return load({ 'cordis.yml': yml(...ids), 'quiet.mjs': 'export function apply() {}' })
}

describe('watchApp()', () => {
  it('reloads when the file is written, once for several writes at a time', async () => {
    const watched = new Watched(await start('a'))
    for (const ids of [['a', 'b'], [], ['a', 'c']]) writeFileSync(watched.app.file, yml(...ids))
    expect(await watched.next()).toEqual({ added: ['c'], restarted: [], removed: [] })
    writeFileSync(watched.app.file, yml('c'))
    expect(await watched.next()).toEqual({ added: [], restarted: [], removed: ['a'] })
    expect(watched.pending).toBe(0)
  })

  it('reloads when another file takes its place, again and again', async () => {
    const watched = new Watched(await start('a'))
    for (const id of ['b', 'c']) {
      const other = `${watched.app.file}.tmp`
      writeFileSync(other, yml('a', id))
      renameSync(other, watched.app.file)
      expect(await watched.next()).toMatchObject({ added: [id] })
    }
  })

  it('takes a file that is missing or empty for a moment for one that is being written', async () => {
    const watched = new Watched(await start('a'))
    rmSync(watched.app.file)
    writeFileSync(watched.app.file, yml('a', 'b'))
    expect(await watched.next()).toMatchObject({ added: ['b'] })
    await whileTimeIsHeld(async () => {
      writeFileSync(watched.app.file, '')
      await timerIsSet()
      // A pause between two writes, and more.
      await vi.advanceTimersByTimeAsync(200)
      expect(vi.getTimerCount()).toBe(1)
    })
    expect(watched.app.entries).toEqual(['a', 'b'])
    writeFileSync(watched.app.file, yml('b'))
    expect(await watched.next()).toMatchObject({ removed: ['a'] })
  })

  it('says so when the file stays away, and goes on when it is back', async () => {
    const watched = new Watched(await start('a'))
    await whileTimeIsHeld(async () => {
      rmSync(watched.app.file)
      await timerIsSet()
      await vi.advanceTimersByTimeAsync(2_000)
    })
    expect(await watched.next()).toMatchObject({ code: 'UNREADABLE' })
    writeFileSync(watched.app.file, yml('a', 'b'))
    expect(await watched.next()).toMatchObject({ added: ['b'] })
  })

  it('hands over why an edit is refused, and takes the next one', async () => {
    const watched = new Watched(await start('a'))
    writeFileSync(watched.app.file, '- nme: ./quiet.mjs\n')
    expect(await watched.next()).toMatchObject({ code: 'INVALID', problems: [{ where: `${watched.app.file}:1:3` }] })
    writeFileSync(watched.app.file, yml('a', 'b'))
    expect(await watched.next()).toMatchObject({ added: ['b'] })
  })

  it('minds no other file of the folder', async () => {
    const watched = new Watched(await start('a'))
    writeFileSync(join(dirname(watched.app.file), 'other.yml'), yml('b'))
    mkdirSync(join(dirname(watched.app.file), 'more'))
    writeFileSync(watched.app.file, yml('a', 'c'))
    expect(await watched.next()).toMatchObject({ added: ['c'] })
    expect(watched.pending).toBe(0)
  })

  it.each<[string, (watched: Watched, controller: AbortController) => unknown]>([
    ['it is told to', watched => { watched.stop() }],
    ['its signal aborts', (_, controller) => { controller.abort() }],
    ['the app ends', watched => watched.app.dispose()],
  ])('ends when %s', async (_what, end) => {
    const app = await start('a')
    const before = await handles()
    const controller = new AbortController()
    const watched = new Watched(app, { signal: controller.signal })
    expect(await handles()).toBe(before + 1)
    writeFileSync(app.file, yml('a', 'b'))
    await end(watched, controller)
    expect(await handles()).toBe(before)
    watched.stop()
  })

  it('does not begin with a signal that has aborted, nor where the folder is gone', async () => {
    const app = await start('a')
    const before = await handles()
    watchApp(app, { signal: AbortSignal.abort() })
    expect(await handles()).toBe(before)
    const gone = { ...app, ctx: app.ctx, file: join(dirname(app.file), 'gone', 'cordis.yml') } as App
    expect(() => watchApp(gone)).toThrow(expect.objectContaining({ code: 'UNREADABLE', message: expect.stringContaining('cannot be watched') }))
  })
})

/** The clock moves only as `act` says; events of the file system come by themselves. */
async function whileTimeIsHeld(act: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    await act()
  } finally {
    vi.useRealTimers()
  }
}

async function timerIsSet(): Promise<void> {
  while (vi.getTimerCount() === 0) await new Promise(setImmediate)
}

/** The folders that are watched, once those that are being closed are. */
async function handles(): Promise<number> {
  await new Promise(setImmediate)
  return process.getActiveResourcesInfo().filter(name => name === 'FSEventWrap').length
}
