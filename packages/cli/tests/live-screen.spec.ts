import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { cutToWidth } from '../src/display-width.ts'
import { LiveScreen, type ScreenSize } from '../src/live-screen.ts'
import { Screen } from './screen.ts'

beforeEach(() => { vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }) })
afterEach(() => { vi.useRealTimers() })

/** A terminal at whose bottom `lines` stand, each cut to fit. */
async function showing(lines: string[], columns = 80, rows = 24): Promise<{ terminal: Screen, live: LiveScreen, lines: string[] }> {
  const terminal = new Screen(columns, rows)
  const live = new LiveScreen(terminal)
  live.show(size => lines.slice(0, size.rows - 1).map(line => cutToWidth(line, size.columns)))
  await vi.advanceTimersByTimeAsync(0)
  return { terminal, live, lines }
}

describe('a live screen', () => {
  it('keeps its lines at the bottom, and what is written above them, in order', async () => {
    const { terminal, live } = await showing(['main', '└─ run-1'], 80, 8)
    const words = Array.from({ length: 20 }, (_, i) => `word ${i}`)
    for (const word of words) live.write(`${word}\n`)
    expect(await terminal.lines()).toEqual([...words, 'main', '└─ run-1'])
  })

  it('shows what changed in one write, ten times a second at most', async () => {
    const { terminal, live, lines } = await showing(['0'])
    for (let i = 1; i <= 500; i++) {
      lines[0] = String(i)
      live.changed()
      await vi.advanceTimersByTimeAsync(2)
    }
    expect(terminal.writes.length).toBeGreaterThanOrEqual(10)
    expect(terminal.writes.length).toBeLessThanOrEqual(11)
    await vi.advanceTimersByTimeAsync(100)
    expect(await terminal.lines()).toEqual(['500'])
  })

  it('shows the time that goes by, each second, and writes nothing where nothing changed', async () => {
    const { terminal, lines } = await showing(['0 s'])
    lines[0] = '1 s'
    await vi.advanceTimersByTimeAsync(1001)
    expect(await terminal.lines()).toEqual(['1 s'])
    await vi.advanceTimersByTimeAsync(5000)
    expect(terminal.writes).toHaveLength(2)
  })

  it('grows and shrinks with its lines, and leaves nothing of them', async () => {
    const { terminal, live, lines } = await showing(['main', '├─ run-1', '├─ run-2', '└─ run-3'])
    lines.splice(1, 2)
    live.changed()
    await vi.advanceTimersByTimeAsync(100)
    expect(await terminal.lines()).toEqual(['main', '└─ run-3'])
    lines.push('   └─ run-4')
    live.write('run-5 ended\n')
    await vi.advanceTimersByTimeAsync(100)
    live.changed()
    await vi.advanceTimersByTimeAsync(100)
    expect(await terminal.lines()).toEqual(['run-5 ended', 'main', '└─ run-3', '   └─ run-4'])
  })

  it.each<[string, string]>([
    ['plain lines', 'x'.repeat(200)],
    ['wide characters, which do not stand across an edge', `x${'数'.repeat(100)}`],
  ])('a terminal that is made narrower and wider again shows no leftovers: %s', async (_what, long) => {
    const { terminal, live } = await showing([long, `├─ ${long}`, 'short', `└─ ${long}`])
    live.write('run-1 ended\n')
    const at = (columns: number) => ['run-1 ended', cutToWidth(long, columns), cutToWidth(`├─ ${long}`, columns), 'short', cutToWidth(`└─ ${long}`, columns)]
    for (const columns of [40, 80, 79, 33, 120, 21, 80]) {
      await terminal.resize(columns)
      await vi.advanceTimersByTimeAsync(100)
      expect(await terminal.lines()).toEqual(at(columns))
    }
  })

  it('what is written just after a resize is above the lines too', async () => {
    const { terminal, live } = await showing(['x'.repeat(100), 'y'.repeat(100)])
    await terminal.resize(30)
    live.write('run-1 ended\n')
    expect(await terminal.lines()).toEqual(['run-1 ended', cutToWidth('x'.repeat(100), 30), cutToWidth('y'.repeat(100), 30)])
  })

  it('follows the height', async () => {
    const { terminal } = await showing(Array.from({ length: 30 }, (_, i) => `run-${i}`), 80, 10)
    expect(await terminal.lines()).toHaveLength(9)
    await terminal.resize(80, 20)
    await vi.advanceTimersByTimeAsync(100)
    expect(await terminal.lines()).toEqual(Array.from({ length: 19 }, (_, i) => `run-${i}`))
  })

  it('close() takes its lines away, and no timer is left; what is written then is written as it is', async () => {
    const { terminal, live } = await showing(['main', '└─ run-1'])
    live.write('run-2 ended\n')
    live.close()
    live.close()
    live.changed()
    expect(vi.getTimerCount()).toBe(0)
    expect(terminal.listenerCount('resize')).toBe(0)
    live.write('the end')
    expect(terminal.writes.at(-1)).toBe('the end')
    expect(await terminal.lines()).toEqual(['run-2 ended', 'the end'])
  })

  it('a frame that cannot be made ends the display, and nothing that is written is lost', async () => {
    const terminal = new Screen(80, 24)
    const live = new LiveScreen(terminal)
    let fails = false
    live.show((_size: ScreenSize) => {
      if (fails) throw new Error('no frame')
      return ['main']
    })
    live.write('one\n')
    expect(await terminal.lines()).toEqual(['one', 'main'])
    fails = true
    await vi.advanceTimersByTimeAsync(1001)
    expect(await terminal.lines()).toEqual(['one'])
    live.write('two\n')
    expect(await terminal.lines()).toEqual(['one', 'two'])
  })

  it('on a terminal that does not know its size, has 80 columns and 24 rows', () => {
    const sizes: ScreenSize[] = []
    const live = new LiveScreen({ isTTY: true, columns: 0, rows: 0, write: () => {} })
    live.show(size => {
      sizes.push(size)
      return []
    })
    live.write('one\n')
    live.close()
    expect(sizes).toEqual([{ columns: 80, rows: 24 }])
  })
})
