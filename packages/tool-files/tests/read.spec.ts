import { describe, expect, it } from 'vitest'
import { app, folder } from './support.ts'

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}\n`).join('')

describe('read_file', () => {
  it('answers the plain text, with or without a last newline', async () => {
    const { call } = await app(folder({ a: 'one\ntwo\n', b: 'one\ntwo' }))
    expect(await call('read_file', { path: 'a' })).toBe('one\ntwo\n')
    expect(await call('read_file', { path: 'b' })).toBe('one\ntwo')
  })

  it('says that an empty file is empty', async () => {
    const { call } = await app(folder({ a: '' }))
    expect(await call('read_file', { path: 'a' })).toBe('[the file is empty]')
  })

  it('says what is not there', async () => {
    const { call } = await app(folder())
    expect(await call('read_file', { path: 'dir/a.txt' })).toBe('Error: there is no "dir/a.txt"; list_files shows what there is')
  })

  it('reads lines from offset, as many as limit, and says how to read on', async () => {
    const { call } = await app(folder({ a: numbered(1, 10) }))
    expect(await call('read_file', { path: 'a', offset: 9 })).toBe(numbered(9, 10))
    expect(await call('read_file', { path: 'a', offset: 3, limit: 2 })).toBe(
      `${numbered(3, 4)}[cut here; the file has 71 bytes; read on with {"offset":5}]`)
    expect(await call('read_file', { path: 'a', offset: 9, limit: 2 })).toBe(numbered(9, 10))
    expect(await call('read_file', { path: 'a', offset: 10, limit: 99 })).toBe(numbered(10, 10))
  })

  it.each([
    ['one\ntwo\n', 3, 'has 2 lines'],
    ['one\ntwo', 3, 'has 2 lines'],
    ['one', 7, 'has 1 line'],
  ])('refuses an offset after the end of %j', async (content, offset, says) => {
    const { call } = await app(folder({ a: content }))
    expect(await call('read_file', { path: 'a', offset })).toBe(`Error: offset ${offset} is after the end of "a", which ${says}`)
  })

  it('cuts after whole lines, by lines or by bytes, whichever comes first', async () => {
    const cwd = folder({ a: numbered(1, 30) })
    const byLines = await app(cwd, { maxReadLines: 5 })
    expect(await byLines.call('read_file', { path: 'a', limit: 20 })).toBe(
      `${numbered(1, 5)}[cut here; the file has 231 bytes; read on with {"offset":6}]`)
    const byBytes = await app(cwd, { maxReadBytes: 64 })
    expect(await byBytes.call('read_file', { path: 'a' })).toBe(
      `${numbered(1, 9)}[cut here; the file has 231 bytes; read on with {"offset":10}]`)
  })

  it('gives back a whole file, piece by piece, as it says how to read on: long lines and split characters included', async () => {
    const content = `${'€uro'.repeat(40)}\nshort\n\n${'😀'.repeat(50)}\n${numbered(1, 40)}${'x'.repeat(64)}\n${'y'.repeat(63)}\n${'é'.repeat(100)}`
    const { call } = await app(folder({ a: content }), { maxReadBytes: 64 })
    let read = ''
    let next: Record<string, number> | undefined = {}
    while (next) {
      const text: string = await call('read_file', { path: 'a', ...next })
      const cut: RegExpExecArray | null = /^(.*?)(\n?)\[cut here; the file has \d+ bytes; read on with (\{.*\})\]$/s.exec(text)
      next = cut ? JSON.parse(cut[3]!) : undefined
      expect(Buffer.byteLength(cut ? cut[1]! : text)).toBeLessThanOrEqual(64)
      // The newline before the sentence is the file's own, unless the cut is inside of a line.
      read += cut ? cut[1]! + (next?.['column'] === undefined ? cut[2]! : '') : text
    }
    expect(read).toBe(content)
  })

  it('refuses a column after the end of its line', async () => {
    const { call } = await app(folder({ a: 'one\ntwo' }))
    expect(await call('read_file', { path: 'a', column: 3 })).toBe('e\ntwo')
    for (const [offset, column] of [[1, 5], [1, 99], [2, 4], [2, 99]]) {
      expect(await call('read_file', { path: 'a', offset, column })).toBe(`Error: column ${column} is after the end of line ${offset}`)
    }
  })

  it('reads far into a file of many chunks', async () => {
    const { call } = await app(folder({ a: numbered(1, 200_000) }))
    expect(await call('read_file', { path: 'a', offset: 199_999 })).toBe(numbered(199_999, 200_000))
    expect(await call('read_file', { path: 'a', offset: 200_001 })).toMatch(/which has 200000 lines$/)
  })

  it('says that more follows, wherever a part ends', async () => {
    // Files are read in chunks of 64 KiB.
    const lines = `${'x'.repeat(63)}\n`.repeat(1024)
    const { call } = await app(folder({ a: `${lines}y`, b: lines }), { maxReadLines: 1024, maxReadBytes: 100_000 })
    expect(await call('read_file', { path: 'a' })).toBe(`${lines}[cut here; the file has 65537 bytes; read on with {"offset":1025}]`)
    expect(await call('read_file', { path: 'b' })).toBe(lines)
  })

  it('shows \\r\\n as \\n, and no byte order mark', async () => {
    const { call } = await app(folder({ a: '\uFEFFone\r\ntwo\rthree\r\n' }))
    expect(await call('read_file', { path: 'a' })).toBe('one\ntwo\rthree\n')
  })

  it('refuses a binary file', async () => {
    const { call } = await app(folder({ a: Buffer.from([0x89, 0x50, 0, 1]) }))
    expect(await call('read_file', { path: 'a' })).toBe('Error: "a" is a binary file (4 bytes), which cannot be shown or edited as text')
  })

  it('stops when the call is aborted', async () => {
    const { call } = await app(folder({ a: 'text' }))
    expect(await call('read_file', { path: 'a' }, AbortSignal.abort(new Error('enough')))).toBe('Error: enough')
  })

  it.each([[{}, 'path: expected required property'], [{ path: '' }, 'path: '], [{ path: 'a', offset: 0 }, 'offset: '], [{ path: 'a', limit: 0 }, 'limit: ']])(
    'refuses the arguments %j', async (args, says) => {
      const { call } = await app(folder({ a: 'text' }))
      expect(await call('read_file', args)).toContain(`Error: invalid arguments for "read_file": ${says}`)
    })
})

describe('read_file {path: "spill:<id>"}', () => {
  it('reads back what another tool cut, from any working directory, binary or not', async () => {
    const { ctx, call } = await app(folder())
    const spill = ctx.tools.core.spills.open()
    spill.write(Buffer.from('one\0\ntwo\nthree'))
    const path = `spill:${spill.close()}`
    expect(await call('read_file', { path })).toBe('one\0\ntwo\nthree')
    expect(await call('read_file', { path, offset: 2, limit: 1 })).toBe(
      'two\n[cut here; the file has 14 bytes; read on with {"offset":3}]')
  })

  it('changes nothing: a byte order mark and line endings stay', async () => {
    const { ctx, call } = await app(folder())
    const spill = ctx.tools.core.spills.open()
    spill.write(Buffer.from('\uFEFFone\r\ntwo\r\n'))
    expect(await call('read_file', { path: `spill:${spill.close()}` })).toBe('\uFEFFone\r\ntwo\r\n')
  })

  it.each(['spill:', 'spill:nope', 'spill:../own.txt'])('answers an error to %s', async path => {
    const { call } = await app(folder({ 'own.txt': 'own' }))
    expect(await call('read_file', { path })).toMatch(/^Error: there is no "spill:/)
  })

  it('is for reading alone', async () => {
    const { ctx, call } = await app(folder())
    const spill = ctx.tools.core.spills.open()
    const path = `spill:${spill.close()}`
    expect(await call('edit_file', { path, old_text: 'a', new_text: 'b' })).toBe(`Error: there is no "${path}"; list_files shows what there is`)
  })
})
