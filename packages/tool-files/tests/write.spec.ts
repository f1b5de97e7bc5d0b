import { chmodSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { app, folder } from './support.ts'

const asRoot = process.getuid?.() === 0

describe('write_file', () => {
  it('creates a file and the folders above it', async () => {
    const cwd = folder()
    const { call } = await app(cwd)
    expect(await call('write_file', { path: 'one/two/a.txt', content: 'é\n' })).toBe('created one/two/a.txt (3 bytes)')
    expect(readFileSync(join(cwd, 'one/two/a.txt'), 'utf8')).toBe('é\n')
    expect(statSync(join(cwd, 'one/two/a.txt')).mode & 0o777).toBe(0o666 & ~process.umask())
  })

  it('replaces all of a file, byte for byte, and keeps its permissions', async () => {
    const cwd = folder({ a: 'old and longer' })
    chmodSync(join(cwd, 'a'), 0o751)
    const { call } = await app(cwd)
    expect(await call('write_file', { path: 'a', content: '\uFEFFnew\r\n' })).toBe('replaced a (8 bytes)')
    expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('\uFEFFnew\r\n')
    expect(statSync(join(cwd, 'a')).mode & 0o777).toBe(0o751)
  })

  it('replaces in one step: what had the file open, or links to it, keeps the old content', async () => {
    const cwd = folder({ a: 'old' })
    linkSync(join(cwd, 'a'), join(cwd, 'b'))
    const { call } = await app(cwd)
    await call('write_file', { path: 'a', content: 'new' })
    expect(readFileSync(join(cwd, 'b'), 'utf8')).toBe('old')
    expect(readdirSync(cwd).sort()).toEqual(['a', 'b'])
  })

  it('leaves nothing beside the file when it fails', async () => {
    const cwd = folder()
    mkdirSync(join(cwd, 'dir'))
    const { call } = await app(cwd)
    expect(await call('write_file', { path: 'x'.repeat(300), content: '' })).toMatch(/^Error: the system refused "x+": ENAMETOOLONG/)
    expect(await call('write_file', { path: 'dir', content: '' })).toMatch(/^Error: "dir" is a folder/)
    expect(readdirSync(cwd, { recursive: true })).toEqual(['dir'])
  })

  it.skipIf(asRoot)('respects a file that may not be written', async () => {
    const cwd = folder({ a: 'old' })
    chmodSync(join(cwd, 'a'), 0o444)
    const { call } = await app(cwd)
    expect(await call('write_file', { path: 'a', content: 'new' })).toMatch(/^Error: the system refused "a": EACCES/)
    expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('old')
  })
})

describe('edit_file', () => {
  async function edit(content: string | Uint8Array, args: { old_text: string, new_text: string, replace_all?: boolean }, config = {}) {
    const cwd = folder({ a: content })
    const { call } = await app(cwd, config)
    const answer = await call('edit_file', { path: 'a', ...args })
    return { answer, content: readFileSync(join(cwd, 'a')).toString('utf8'), bytes: readFileSync(join(cwd, 'a')) }
  }

  it('replaces the one occurrence', async () => {
    expect(await edit('one two three', { old_text: 'two', new_text: '2' })).toMatchObject({ answer: 'replaced 1 occurrence in a', content: 'one 2 three' })
    expect(await edit('one two three', { old_text: ' two', new_text: '' })).toMatchObject({ content: 'one three' })
  })

  it('takes both texts literally', async () => {
    expect(await edit('a.b (c) $d', { old_text: '.b (c) $', new_text: "$& $1 $' \\n" })).toMatchObject({ content: "a$& $1 $' \\nd" })
    expect(await edit('axb', { old_text: 'a.b', new_text: '' })).toMatchObject({ answer: expect.stringContaining('(0 occurrences)') })
  })

  it('refuses text that is not there, and changes nothing', async () => {
    expect(await edit('one', { old_text: 'One', new_text: '1' })).toMatchObject({
      content: 'one',
      answer: 'Error: old_text does not occur in "a" (0 occurrences); it must match exactly, whitespace included: read the file again',
    })
  })

  it('refuses text that is there more than once, says how often, and changes nothing', async () => {
    expect(await edit('x y x y x', { old_text: 'x', new_text: 'z' })).toMatchObject({
      content: 'x y x y x',
      answer: 'Error: old_text occurs 3 times in "a"; add text around it until it occurs once, or set replace_all',
    })
    expect(await edit('ababa', { old_text: 'aba', new_text: 'z' })).toMatchObject({ answer: expect.stringContaining('occurs 2 times'), content: 'ababa' })
  })

  it('replaces every occurrence with replace_all', async () => {
    expect(await edit('x y x y x', { old_text: 'x', new_text: 'xx', replace_all: true })).toMatchObject({
      answer: 'replaced 3 occurrences in a', content: 'xx y xx y xx',
    })
    expect(await edit('x', { old_text: 'x', new_text: 'y', replace_all: true })).toMatchObject({ answer: 'replaced 1 occurrence in a' })
    expect(await edit('x', { old_text: 'y', new_text: 'z', replace_all: true })).toMatchObject({ answer: expect.stringContaining('(0 occurrences)') })
  })

  it('refuses an empty old_text, and a change that is none', async () => {
    expect(await edit('one', { old_text: '', new_text: 'x' })).toMatchObject({ answer: expect.stringMatching(/^Error: old_text is empty/), content: 'one' })
    expect(await edit('one', { old_text: 'one', new_text: 'one' })).toMatchObject({ answer: expect.stringMatching(/^Error: .* are the same/) })
  })

  it('keeps \\r\\n: \\n in old_text matches it, and new_text gets it', async () => {
    expect(await edit('one\r\ntwo\r\nthree\r\n', { old_text: 'one\ntwo', new_text: '1\n2\n2b' })).toMatchObject({ content: '1\r\n2\r\n2b\r\nthree\r\n' })
    expect(await edit('one\r\ntwo\r\n', { old_text: 'two', new_text: '2\n3' })).toMatchObject({ content: 'one\r\n2\r\n3\r\n' })
    expect(await edit('one\r\ntwo\r\n', { old_text: '\ntwo', new_text: '' })).toMatchObject({ content: 'one\r\n' })
    expect(await edit('one\r\ntwo\r\n', { old_text: 'one\r\ntwo', new_text: 'x\r\ny' })).toMatchObject({ content: 'x\r\ny\r\n' })
  })

  it('keeps \\n, even where the model writes \\r\\n', async () => {
    expect(await edit('one\ntwo\n', { old_text: 'one\r\ntwo', new_text: '1\r\n2' })).toMatchObject({ content: '1\n2\n' })
  })

  it('keeps mixed line endings where it does not replace, and follows those that it replaces', async () => {
    expect(await edit('a\r\nb\nc\r\nd\ne\n', { old_text: 'c\nd', new_text: 'C\nD' })).toMatchObject({ content: 'a\r\nb\nC\r\nD\ne\n' })
    expect(await edit('a\r\nb\nc\r\nd\n', { old_text: 'b\nc', new_text: 'B\nC' })).toMatchObject({ content: 'a\r\nB\nC\r\nd\n' })
    expect(await edit('x\r\ny\nx\ny\n', { old_text: 'x\ny', new_text: 'z\nw', replace_all: true })).toMatchObject({ content: 'z\r\nw\nz\nw\n' })
  })

  it('keeps a byte order mark', async () => {
    expect((await edit('\uFEFFone', { old_text: 'one', new_text: '1' })).bytes).toEqual(Buffer.from('\uFEFF1'))
  })

  it('keeps the permissions of the file', async () => {
    const cwd = folder({ a: 'one' })
    chmodSync(join(cwd, 'a'), 0o700)
    const { call } = await app(cwd)
    await call('edit_file', { path: 'a', old_text: 'one', new_text: '1' })
    expect(statSync(join(cwd, 'a')).mode & 0o777).toBe(0o700)
  })

  it('takes an old_text of any length', async () => {
    const lines = Array.from({ length: 50_000 }, (_, at) => `line ${at} (${at % 7})`).join('\r\n')
    expect(await edit(`a\r\n${lines}\r\nb`, { old_text: lines.replaceAll('\r\n', '\n'), new_text: 'x' })).toMatchObject({ content: 'a\r\nx\r\nb' })
  })

  it('refuses what it would damage: binary files, other encodings', async () => {
    const latin1 = Buffer.from('caf\xe9 one', 'latin1')
    const answer = await edit(latin1, { old_text: 'one', new_text: '1' })
    expect(answer).toMatchObject({ answer: 'Error: "a" is not valid UTF-8; editing it as text would damage it', bytes: latin1 })
    expect((await edit(Buffer.from('one\0'), { old_text: 'one', new_text: '1' })).answer).toMatch(/^Error: "a" is a binary file/)
  })

  it('refuses files over maxFileBytes', async () => {
    expect(await edit('0123456789', { old_text: '0', new_text: '' }, { maxFileBytes: 9 })).toMatchObject({
      answer: 'Error: "a" has 10 bytes; files over 9 bytes are not edited', content: '0123456789',
    })
  })

  it('loses no change where agents edit one file at once', async () => {
    const names = Array.from({ length: 20 }, (_, at) => `<${at}>`)
    const cwd = folder({ a: names.join('\n') })
    const { call } = await app(cwd)
    await Promise.all(names.map(name => call('edit_file', { path: 'a', old_text: name, new_text: `done ${name}` })))
    expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe(names.map(name => `done ${name}`).join('\n'))
  })

  it('goes on after an edit of the same file that failed', async () => {
    const cwd = folder({ a: 'one' })
    const { call } = await app(cwd)
    const answers = await Promise.all(['nope', 'one'].map(text => call('edit_file', { path: 'a', old_text: text, new_text: '1' })))
    expect(answers).toEqual([expect.stringContaining('(0 occurrences)'), 'replaced 1 occurrence in a'])
  })
})
