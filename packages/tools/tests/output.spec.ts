import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { tmpdir } from 'node:os'
import ToolService, { CappedOutput, SpillStore } from '@offshoot/tools'
import { Context } from 'cordis'
import { afterEach, describe, expect, it, vi } from 'vitest'

const stores: SpillStore[] = []

afterEach(() => {
  vi.unstubAllEnvs()
  for (const store of stores.splice(0)) store.dispose()
})

function newStore(maxBytes = 1024 ** 3) {
  const store = new SpillStore(maxBytes)
  stores.push(store)
  return store
}

function run(maxBytes: number, chunks: readonly (string | Uint8Array)[], store = newStore()) {
  const output = new CappedOutput(store, maxBytes)
  for (const chunk of chunks) output.write(Buffer.from(chunk))
  const text = output.end()
  const cut = /^(.*)\n\[(\d+) bytes cut here; (.*?): read_file \{"path": "spill:([0-9a-f]+)"\}\]\n(.*)$/s.exec(text)
  return {
    text, head: cut?.[1], cut: Number(cut?.[2]), kept: cut?.[3], tail: cut?.[5],
    spilled: cut ? readFileSync(store.path(cut[4]!)!) : undefined,
  }
}

function spillOf(store: SpillStore, content: string | Uint8Array): string {
  const spill = store.open()
  spill.write(Buffer.from(content))
  return spill.close()
}

/** The same bytes in pieces of `size`. */
function pieces(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
}

describe('output that fits', () => {
  it.each([0, 1, 49, 50, 51, 99, 100])('is left as it is: %i of 100 bytes', length => {
    for (const size of [1, 3, 50, 100]) {
      const bytes = Buffer.from('abcdefg'.repeat(20).slice(0, length))
      expect(run(100, pieces(bytes, size)).text).toBe(bytes.toString())
    }
  })

  it('makes no spill', () => {
    const open = vi.spyOn(SpillStore.prototype, 'open')
    run(100, ['x'.repeat(100)])
    expect(open).not.toHaveBeenCalled()
    open.mockRestore()
  })

  it('keeps characters that lie across its middle and across chunks', () => {
    const text = '€'.repeat(33)
    expect(run(100, pieces(Buffer.from(text), 1)).text).toBe(text)
  })

  it('keeps stray bytes at its ends, as U+FFFD', () => {
    expect(run(100, [Buffer.from([0x80, 0x61, 0xe2, 0x82])]).text).toBe('\uFFFDa\uFFFD')
  })
})

describe('output that does not fit', () => {
  it.each([101, 149, 150, 151, 200, 1000])('keeps head and tail, counts what lies between, and spills all: %i of 100 bytes', length => {
    const bytes = Buffer.from(Array.from({ length }, (_, at) => 97 + at % 26))
    for (const size of [1, 7, 49, 50, 51, 100, 101, 1000]) {
      expect(run(100, pieces(bytes, size))).toMatchObject({
        head: bytes.subarray(0, 50).toString(), tail: bytes.subarray(-50).toString(), cut: length - 100,
        kept: 'the whole output', spilled: bytes,
      })
    }
  })

  it('leaves out a character that a cut split, and counts its bytes as cut', () => {
    for (const [lead, character] of [['', 'é'], ['x', 'é'], ['', '€'], ['x', '€'], ['xx', '€'], ['', '😀'], ['x', '😀'], ['xx', '😀'], ['xxx', '😀']] as const) {
      const bytes = Buffer.from(lead + character.repeat(100) + lead)
      const { head, tail, cut, text } = run(50, [bytes])
      expect(text).not.toContain('\uFFFD')
      expect(bytes.toString().startsWith(head!)).toBe(true)
      expect(bytes.toString().endsWith(tail!)).toBe(true)
      expect(Buffer.byteLength(head!) + cut + Buffer.byteLength(tail!)).toBe(bytes.length)
      expect(Buffer.byteLength(head!)).toBeGreaterThan(25 - 4)
      expect(Buffer.byteLength(tail!)).toBeGreaterThan(25 - 4)
    }
  })

  it('trims only where the cut is, never at the true ends', () => {
    const { head, tail } = run(20, [Buffer.from([0x80]), 'x'.repeat(100), Buffer.from([0xe2, 0x82])])
    expect(head).toBe(`\uFFFD${'x'.repeat(9)}`)
    expect(tail).toBe(`${'x'.repeat(8)}\uFFFD`)
  })

  it('is read back byte for byte, whatever the bytes', () => {
    const bytes = randomBytes(300_000)
    expect(run(1000, pieces(bytes, 4096)).spilled?.equals(bytes)).toBe(true)
  })

  it('spills up to 64 MiB, and says how much', () => {
    const limit = 64 * 1024 * 1024
    const store = newStore()
    const output = new CappedOutput(store, 100)
    const chunk = Buffer.alloc(limit / 2 - 1, 'a')
    for (const part of [chunk, chunk, Buffer.from('head'), Buffer.from('tail')]) output.write(part)
    const [, cut, kept, id, tail] = /\n\[(\d+) bytes cut here; (.*?): read_file \{"path": "spill:(\w+)"\}\]\n(.*)$/.exec(output.end())!
    expect([Number(cut), kept, tail]).toEqual([limit + 6 - 100, `the first ${limit} bytes of the output`, `${'a'.repeat(42)}headtail`])
    expect(statSync(store.path(id!)!).size).toBe(limit)
  })

  it('does not keep the chunks it was given', () => {
    const output = new CappedOutput(newStore(), 10)
    const chunk = Buffer.from('abcde')
    output.write(chunk)
    chunk.fill('z')
    expect(output.end()).toBe('abcde')
  })

  it('costs the caller nothing but the spill where the disk refuses', () => {
    vi.stubEnv('TMPDIR', '/nonexistent/folder')
    const { text } = run(10, ['abcde', 'fghij', 'klmno'])
    expect(text).toMatch(/^abcde\n\[5 bytes cut here; they could not be kept: ENOENT.*\]\nklmno$/)
  })

  it('costs the caller nothing but the spill where the app goes first', () => {
    const store = newStore()
    const output = new CappedOutput(store, 10)
    output.write(Buffer.from('abcdefghijk'))
    store.dispose()
    output.write(Buffer.from('lmnop'))
    expect(output.end()).toMatch(/^abcde\n\[6 bytes cut here; they could not be kept: the spill is closed.*\]\nlmnop$/)
  })

  it('keeps what there was room for, and says how much', () => {
    const store = newStore(12)
    const output = new CappedOutput(store, 10)
    for (const chunk of ['abcdefghijk', 'lmnop']) output.write(Buffer.from(chunk))
    const text = output.end()
    expect(text).toMatch(/^abcde\n\[6 bytes cut here; the first 11 bytes of the output: read_file .*\]\nlmnop$/)
    expect(readFileSync(store.path(/spill:(\w+)/.exec(text)![1]!)!, 'utf8')).toBe('abcdefghijk')
  })

  it('is told without a tool for reading it, where there is none', () => {
    const output = new CappedOutput(newStore(), 10)
    output.write(Buffer.from('abcdefghijk'))
    expect(output.end(false)).toMatch(/^abcde\n\[1 bytes cut here; the whole output: spill:\w+, which no tool of yours reads\]\nghijk$/)
  })
})

describe('spills', () => {
  it('lie outside the working directory, for their owner alone, and go with the app', async () => {
    const ctx = new Context()
    await ctx.plugin(ToolService)
    const { spills } = ctx.tools.core
    const id = spillOf(spills, 'kept')
    const path = spills.path(id)!
    expect(dirname(dirname(path))).toBe(tmpdir())
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    expect(readFileSync(path, 'utf8')).toBe('kept')
    await ctx.fiber.dispose()
    expect(existsSync(dirname(path))).toBe(false)
    expect(spills.path(id)).toBeUndefined()
  })

  it('make no folder before there is something to keep', () => {
    vi.stubEnv('TMPDIR', '/nonexistent/folder')
    expect(() => newStore().dispose()).not.toThrow()
  })

  it('are known by the ids that were given out, and by nothing else', () => {
    const store = newStore()
    const id = spillOf(store, 'known')
    expect(store.path(id)).toBeDefined()
    for (const other of ['', '..', `../${id}`, `${id}/`, 'ffffffffffff', spillOf(newStore(), 'of another app')]) expect(store.path(other)).toBeUndefined()
  })

  it('refuse to be written once they are closed, and refuse to be made once the app is gone', () => {
    const store = newStore()
    const spill = store.open()
    const id = spill.close()
    expect(spill.close()).toBe(id)
    expect(() => spill.write(Buffer.from('x'))).toThrow(expect.objectContaining({ code: 'SPILL_CLOSED' }))
    const open = store.open()
    store.dispose()
    expect(() => open.write(Buffer.from('x'))).toThrow(expect.objectContaining({ code: 'SPILL_CLOSED' }))
    expect(() => open.close()).toThrow(expect.objectContaining({ code: 'SPILL_CLOSED' }))
    expect(() => store.open()).toThrow(expect.objectContaining({ code: 'SPILL_CLOSED' }))
  })

  it('of the same content are one, under one id', () => {
    const store = newStore(10)
    const first = spillOf(store, 'sixsix')
    expect(spillOf(store, 'sixsi')).not.toBe(first)
    expect(spillOf(newStore(), 'sixsix')).toBe(first)
    // Were each kept for itself, there would be no room for the oldest.
    const roomy = newStore(14)
    expect([spillOf(roomy, 'sixsix'), spillOf(roomy, 'sixsix')]).toEqual([first, first])
    const four = spillOf(roomy, 'four')
    expect([first, four].map(id => readFileSync(roomy.path(id)!, 'utf8'))).toEqual(['sixsix', 'four'])
    expect(readdirSync(dirname(roomy.path(four)!))).toHaveLength(2)
  })

  it('make room for new ones, the oldest first', () => {
    const store = newStore(10)
    const [a, b] = [spillOf(store, 'aaaa'), spillOf(store, 'bbbb')]
    spillOf(store, 'aaaa')
    const paths = [a, b].map(id => store.path(id)!)
    const c = spillOf(store, 'cccc')
    expect([a, b, c].map(id => store.path(id) !== undefined)).toEqual([true, false, true])
    expect(paths.map(path => existsSync(path))).toEqual([true, false])
    expect(store.size(b)).toBeUndefined()
  })

  it('are refused where those that have not ended take all the room', () => {
    const store = newStore(10)
    const open = store.open()
    open.write(Buffer.from('eight by'))
    expect(() => spillOf(store, 'four')).toThrow(expect.objectContaining({ code: 'SPILL_FULL' }))
    open.close()
    expect(store.path(spillOf(store, 'four'))).toBeDefined()
  })
})
