import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { app, folder } from './support.ts'

const tree = {
  'a.ts': 'alpha\n', 'a/b.ts': 'beta\nalpha\n', 'a/c/d.md': '# Alpha\n', 'a.b/e.ts': '', '.github/ci.yml': 'on: push\n',
  '.git/config': 'alpha', 'node_modules/x/index.js': 'alpha', 'a/node_modules/y.js': 'alpha', 'z.md': 'omega\n',
}

describe('list_files', () => {
  it('lists files below the working directory, sorted by path, without .git and node_modules at any depth', async () => {
    const { call } = await app(folder(tree))
    expect(await call('list_files', {})).toBe('.github/ci.yml\na.b/e.ts\na.ts\na/b.ts\na/c/d.md\nz.md')
  })

  it('lists a folder, with paths relative to the working directory', async () => {
    const { call } = await app(folder(tree))
    expect(await call('list_files', { path: 'a' })).toBe('a/b.ts\na/c/d.md')
    expect(await call('list_files', { path: 'node_modules' })).toBe('node_modules/x/index.js')
  })

  it.each([
    ['*.ts', undefined, 'a.b/e.ts\na.ts\na/b.ts'],
    ['**/*.ts', undefined, 'a.b/e.ts\na.ts\na/b.ts'],
    ['./a/*', undefined, 'a/b.ts'],
    ['a/**', undefined, 'a/b.ts\na/c/d.md'],
    ['*.{md,yml}', undefined, '.github/ci.yml\na/c/d.md\nz.md'],
    ['c/*', 'a', 'a/c/d.md'],
    ['[ab].ts', undefined, 'a.ts\na/b.ts'],
    ['*.py', undefined, 'no files found'],
  ])('lists what matches %s below %s', async (pattern, path, files) => {
    const { call } = await app(folder(tree))
    expect(await call('list_files', { pattern, ...(path ? { path } : {}) })).toBe(files)
  })

  it('names links and does not follow them', async () => {
    const cwd = folder({ 'dir/a': '' })
    symlinkSync('dir', join(cwd, 'link'))
    symlinkSync('..', join(cwd, 'dir/up'))
    symlinkSync('/', join(cwd, 'root'))
    const { call } = await app(cwd)
    expect(await call('list_files', {})).toBe('dir/a\ndir/up\nlink\nroot')
  })

  it('names at most maxEntries, and says how many there are', async () => {
    const { call } = await app(folder(tree), { maxEntries: 2 })
    expect(await call('list_files', {})).toBe('.github/ci.yml\na.b/e.ts\n[2 of 6 files shown; narrow it with path or pattern]')
    expect(await call('list_files', { pattern: '*.md' })).toBe('a/c/d.md\nz.md')
  })

  it('leaves out the folders that ignore names, and says which', async () => {
    const { ctx, call } = await app(folder(tree), { ignore: ['a', '.git', '.github'] })
    expect(await call('list_files', {})).toBe('a.b/e.ts\na.ts\nnode_modules/x/index.js\nz.md')
    expect(ctx.tools.view().get('list_files')?.spec.description).toContain('Leaves out folders named a, .git, .github.')
    const all = await app(folder({ '.git/x': '' }), { ignore: [] })
    expect(await all.call('list_files', {})).toBe('.git/x')
    expect(all.ctx.tools.view().get('list_files')?.spec.description).not.toContain('Leaves out')
  })

  it('says that a folder is missing, or is none', async () => {
    const { call } = await app(folder({ a: '' }))
    expect(await call('list_files', { path: 'b' })).toBe('Error: there is no "b"; list_files shows what there is')
    expect(await call('list_files', { path: 'a' })).toBe('Error: "a" is not a folder')
    expect(await (await app(folder())).call('list_files', {})).toBe('no files found')
  })

  it('stops when the call is aborted', async () => {
    const { call } = await app(folder(tree))
    expect(await call('list_files', {}, AbortSignal.abort(new Error('enough')))).toBe('Error: enough')
  })

  it('gives up on a pattern that takes too long', async () => {
    const { call } = await app(folder({ [`${'a'.repeat(250)}b`]: '' }))
    expect(await call('list_files', { pattern: `${'*a'.repeat(12)}*c` })).toMatch(/^Error: the pattern ".*" takes too long/)
  })
})

describe('search_files', () => {
  it('answers file:line: text for each line that matches, sorted by path', async () => {
    const { call } = await app(folder(tree))
    expect(await call('search_files', { pattern: 'alpha' })).toBe('a.ts:1: alpha\na/b.ts:2: alpha')
    expect(await call('search_files', { pattern: '^(on|om)' })).toBe('.github/ci.yml:1: on: push\nz.md:1: omega')
    expect(await call('search_files', { pattern: 'nowhere' })).toBe('no matches')
  })

  it('ignores case if told so', async () => {
    const { call } = await app(folder(tree))
    expect(await call('search_files', { pattern: 'ALPHA', ignore_case: true })).toBe('a.ts:1: alpha\na/b.ts:2: alpha\na/c/d.md:1: # Alpha')
  })

  it('searches a folder, a file, and files that match a glob', async () => {
    const { call } = await app(folder(tree))
    expect(await call('search_files', { pattern: 'a', path: 'a' })).toBe('a/b.ts:1: beta\na/b.ts:2: alpha\na/c/d.md:1: # Alpha')
    expect(await call('search_files', { pattern: 'a', path: 'a/b.ts' })).toBe('a/b.ts:1: beta\na/b.ts:2: alpha')
    expect(await call('search_files', { pattern: 'a', path: 'a', glob: 'c/*.md' })).toBe('a/c/d.md:1: # Alpha')
    expect(await call('search_files', { pattern: '.', path: '.git' })).toBe('.git/config:1: alpha')
  })

  it('matches line by line: no newline, no \\r, no line after the last newline', async () => {
    const { call } = await app(folder({ a: 'one\r\n\r\ntwo\n', b: '\n', c: '' }))
    expect(await call('search_files', { pattern: '^$' })).toBe('a:2: \nb:1: ')
    expect(await call('search_files', { pattern: 'one$' })).toBe('a:1: one')
    expect(await call('search_files', { pattern: 'one\\s+two' })).toBe('no matches')
  })

  it('passes over binary files and links', async () => {
    const cwd = folder({ 'a.bin': Buffer.from('alpha\0'), 'b.txt': 'alpha' })
    symlinkSync('b.txt', join(cwd, 'link.txt'))
    const { call } = await app(cwd)
    expect(await call('search_files', { pattern: 'alpha' })).toBe('b.txt:1: alpha')
  })

  it('shows at most maxMatches lines, and says that there are more', async () => {
    const cwd = folder({ a: 'x\nx\n', b: 'x\n' })
    expect(await (await app(cwd, { maxMatches: 2 })).call('search_files', { pattern: 'x' })).toBe(
      'a:1: x\na:2: x\n[the first 2 matching lines; there are more: narrow it with pattern, path or glob]')
    expect(await (await app(cwd, { maxMatches: 3 })).call('search_files', { pattern: 'x' })).toBe('a:1: x\na:2: x\nb:1: x')
  })

  it('names the files that are too large to search', async () => {
    const cwd = folder(Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map(name => [name, 'x'.repeat(20)])))
    writeFileSync(join(cwd, 'f'), 'x')
    const { call } = await app(cwd, { maxFileBytes: 10 })
    expect(await call('search_files', { pattern: 'x' })).toBe('f:1: x\n[not searched, being over 10 bytes: a, b, c and 2 more]')
  })

  it('shows of a long line what is around the match', async () => {
    const { call } = await app(folder({ a: `${'x'.repeat(1_000_000)}needle${'y'.repeat(1_000_000)}` }))
    expect(await call('search_files', { pattern: 'needle' })).toBe(`a:1: …${'x'.repeat(100)}needle${'y'.repeat(194)}…`)
  })

  it('goes through many files', async () => {
    const { call } = await app(folder(Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`${at % 7}/${at}.txt`, `file ${at}\n`]))))
    expect(await call('search_files', { pattern: 'file 2[0-4]$' })).toBe([21, 22, 23, 24, 20].sort((a, b) => a % 7 - b % 7 || a - b).map(at => `${at % 7}/${at}.txt:1: file ${at}`).join('\n'))
  })

  it('refuses what is not a regular expression', async () => {
    const { call } = await app(folder(tree))
    expect(await call('search_files', { pattern: '(' })).toMatch(/^Error: the pattern is not a JavaScript regular expression: /)
  })

  it('gives up on a pattern that takes too long, and leaves the process alive', async () => {
    const { call } = await app(folder({ a: `${'a'.repeat(60)}b` }))
    expect(await call('search_files', { pattern: '(a+)+$' })).toBe(
      'Error: the pattern "(a+)+$" takes too long; make it simpler, without repeats inside repeats')
    expect(await call('search_files', { pattern: 'a+b' })).toMatch(/^a:1: a/)
  })

  it('stops when the call is aborted', async () => {
    const { call } = await app(folder(tree))
    expect(await call('search_files', { pattern: 'alpha' }, AbortSignal.abort(new Error('enough')))).toBe('Error: enough')
  })
})
