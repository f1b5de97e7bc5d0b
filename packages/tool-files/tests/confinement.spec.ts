import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Workdir } from '../src/workdir.ts'
import { app, folder } from './support.ts'

/** Each tool, pointed at `path`. */
const calls = (path: string): [string, Record<string, unknown>][] => [
  ['read_file', { path }],
  ['write_file', { path, content: 'written' }],
  ['edit_file', { path, old_text: 'secret', new_text: 'written' }],
  ['list_files', { path }],
  ['search_files', { path, pattern: 'secret' }],
]

/** A working directory beside a folder that is none of its business. */
async function setup() {
  const outside = folder({ 'secret.txt': 'secret', 'sub/deep.txt': 'secret' })
  const cwd = folder({ 'own.txt': 'own', 'dir/own.txt': 'own' })
  return { outside, cwd, ...await app(cwd) }
}

/** Expects that no tool reaches through `path`, that each says so, and that the folder outside is as it was. */
async function expectRefused({ outside, cwd, call }: Awaited<ReturnType<typeof setup>>, path: string) {
  for (const [tool, args] of calls(path)) {
    expect(await call(tool, args)).toBe(`Error: "${path}" leads outside the working directory ${cwd}; give a path inside it`)
  }
  expect(new Set(readdirSync(outside, { recursive: true, encoding: 'utf8' }))).toEqual(new Set(['secret.txt', 'sub', 'sub/deep.txt']))
  expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret')
}

describe('refused, with an error that names the path and the working directory', () => {
  it('absolute paths outside', async () => {
    const at = await setup()
    await expectRefused(at, join(at.outside, 'secret.txt'))
    await expectRefused(at, at.outside)
    await expectRefused(at, '/')
  })

  it('paths that climb out, whether or not there is something', async () => {
    const at = await setup()
    await expectRefused(at, '..')
    await expectRefused(at, `../${basename(at.outside)}/secret.txt`)
    await expectRefused(at, `dir/../../${basename(at.outside)}/secret.txt`)
    await expectRefused(at, '../nothing/here.txt')
  })

  it('a folder beside the working directory whose name begins alike', async () => {
    const at = await setup()
    await expectRefused(at, `${at.cwd}-beside/x.txt`)
  })

  it('a link to a file outside', async () => {
    const at = await setup()
    symlinkSync(join(at.outside, 'secret.txt'), join(at.cwd, 'link.txt'))
    symlinkSync('link.txt', join(at.cwd, 'second-link.txt'))
    await expectRefused(at, 'link.txt')
    await expectRefused(at, 'second-link.txt')
  })

  it('a link to a folder outside, for what is in it and for what is not there yet', async () => {
    const at = await setup()
    symlinkSync(at.outside, join(at.cwd, 'dir/link'))
    await expectRefused(at, 'dir/link')
    await expectRefused(at, 'dir/link/secret.txt')
    await expectRefused(at, 'dir/link/sub/deep.txt')
    await expectRefused(at, 'dir/link/new.txt')
    await expectRefused(at, 'dir/link/new/folder/new.txt')
  })

  it('a relative link that climbs out', async () => {
    const at = await setup()
    symlinkSync(`../../${basename(at.outside)}`, join(at.cwd, 'dir/link'))
    await expectRefused(at, 'dir/link/secret.txt')
  })

  it('a dangling link that leads outside, of a file and of a folder', async () => {
    const at = await setup()
    symlinkSync(join(at.outside, 'new.txt'), join(at.cwd, 'link.txt'))
    symlinkSync(join(at.outside, 'new'), join(at.cwd, 'link'))
    await expectRefused(at, 'link.txt')
    await expectRefused(at, 'link')
    await expectRefused(at, 'link/new.txt')
  })
})

describe('allowed', () => {
  it('absolute paths inside', async () => {
    const { cwd, call } = await setup()
    expect(await call('read_file', { path: join(cwd, 'own.txt') })).toBe('own')
    expect(await call('list_files', { path: cwd })).toBe('dir/own.txt\nown.txt')
  })

  it('paths that go up and stay inside', async () => {
    const { cwd, call } = await setup()
    expect(await call('read_file', { path: 'dir/../own.txt' })).toBe('own')
    expect(await call('read_file', { path: `../${basename(cwd)}/own.txt` })).toBe('own')
  })

  it('names that begin with two dots', async () => {
    const { call } = await setup()
    expect(await call('write_file', { path: '..own.txt', content: 'x' })).toBe('created ..own.txt (1 bytes)')
  })

  it('links that stay inside: what they lead to is read and written, and the link stays', async () => {
    const { cwd, call } = await setup()
    symlinkSync('own.txt', join(cwd, 'link.txt'))
    symlinkSync(join(cwd, 'dir'), join(cwd, 'link'))
    symlinkSync('dir/new.txt', join(cwd, 'dangling.txt'))
    expect(await call('read_file', { path: 'link/own.txt' })).toBe('own')
    expect(await call('write_file', { path: 'link.txt', content: 'new' })).toBe('replaced own.txt (3 bytes)')
    expect(await call('write_file', { path: 'dangling.txt', content: 'new' })).toBe('created dir/new.txt (3 bytes)')
    expect(await call('read_file', { path: 'link.txt' })).toBe('new')
    expect(readFileSync(join(cwd, 'dir/new.txt'), 'utf8')).toBe('new')
  })

  it('a working directory that is itself behind a link, by either of its names', async () => {
    const cwd = folder({ 'own.txt': 'own' })
    const link = join(folder(), 'link')
    symlinkSync(cwd, link)
    const { call } = await app(link)
    for (const path of ['own.txt', join(cwd, 'own.txt'), join(link, 'own.txt')]) expect(await call('read_file', { path })).toBe('own')
    expect(await call('write_file', { path: join(link, 'new.txt'), content: '' })).toBe('created new.txt (0 bytes)')
  })
})

describe('.git', () => {
  const protectedPaths = ['.git', '.git/hooks/pre-commit', '.git/config', '.GIT/config', 'sub/.git/hooks/x', 'dir/../.git/config', 'link/pre-commit', 'moved/.git/x']

  it.each(protectedPaths)('is not written: %s', async path => {
    const cwd = folder({ '.git/config': '[core]', '.git/hooks/keep': '', 'moved/real/x': '', 'sub/a': '', 'dir/a': '' })
    symlinkSync('.git/hooks', join(cwd, 'link'))
    symlinkSync('real', join(cwd, 'moved/.git'))
    const { call } = await app(cwd)
    const before = readdirSync(cwd, { recursive: true })
    const message = `Error: "${path}" is inside .git, which file tools do not write: hooks and config there run as code`
    expect(await call('write_file', { path, content: 'x' })).toBe(message)
    expect(await call('edit_file', { path, old_text: '[core]', new_text: 'x' })).toBe(message)
    expect(readdirSync(cwd, { recursive: true })).toEqual(before)
    expect(readFileSync(join(cwd, '.git/config'), 'utf8')).toBe('[core]')
  })

  it('is read', async () => {
    const { call } = await app(folder({ '.git/config': '[core]' }))
    expect(await call('read_file', { path: '.git/config' })).toBe('[core]')
  })

  it('is not taken for names that only look alike', async () => {
    const { call } = await app(folder())
    expect(await call('write_file', { path: '.gitignore', content: '' })).toMatch(/^created/)
    expect(await call('write_file', { path: '.github/ci.yml', content: '' })).toMatch(/^created/)
  })
})

describe('what is not a regular file', () => {
  it('is refused at once, a FIFO that nobody writes to included', async () => {
    const cwd = folder({ 'dir/a': '' })
    execFileSync('mkfifo', [join(cwd, 'fifo')])
    const { call } = await app(cwd)
    for (const [tool, args] of calls('fifo').filter(([name]) => name !== 'list_files')) {
      expect(await call(tool, args)).toBe('Error: "fifo" is a FIFO, not a regular file')
    }
    expect(await call('list_files', { path: 'fifo' })).toBe('Error: "fifo" is not a folder')
    expect(await call('list_files', {})).toBe('dir/a')
    expect(await call('search_files', { pattern: 'x' })).toBe('no matches')
  })

  it('is refused as a socket', async () => {
    const cwd = folder()
    const server = createServer().listen(join(cwd, 'socket'))
    onTestFinished(() => { server.close() })
    await new Promise(resolve => { server.once('listening', resolve) })
    const { call } = await app(cwd)
    expect(await call('read_file', { path: 'socket' })).toBe('Error: "socket" is a socket, not a regular file')
    expect(await call('write_file', { path: 'socket', content: '' })).toBe('Error: "socket" is a socket, not a regular file')
  })

  it('is refused as a device', async () => {
    const { call } = await app('/dev')
    expect(await call('read_file', { path: 'null' })).toBe('Error: "null" is a device, not a regular file')
    expect(await call('write_file', { path: 'null', content: 'x' })).toBe('Error: "null" is a device, not a regular file')
  })

  it('is refused as a folder', async () => {
    const cwd = folder({ 'dir/a': '' })
    const { call } = await app(cwd)
    for (const path of ['dir', '.', 'dir/']) {
      const shown = path.replace(/\/$/, '')
      for (const [tool, args] of calls(path).slice(0, 3)) {
        expect(await call(tool, args)).toBe(`Error: "${shown}" is a folder; list_files shows what is in it`)
      }
    }
    expect(existsSync(join(cwd, 'dir/a'))).toBe(true)
  })

  it('is refused as a link in a circle', async () => {
    const cwd = folder()
    symlinkSync('b', join(cwd, 'a'))
    symlinkSync('a', join(cwd, 'b'))
    const { call } = await app(cwd)
    for (const [tool, args] of calls('a')) expect(await call(tool, args)).toBe('Error: "a" leads through symbolic links in a circle')
  })

  it('is refused below a file', async () => {
    const { call } = await app(folder({ a: '' }))
    for (const [tool, args] of calls('a/b')) expect(await call(tool, args)).toBe('Error: "a/b" leads through something that is not a folder')
  })

  it('is refused with a NUL in its name', async () => {
    const { call } = await app(folder())
    for (const [tool, args] of calls('a\0b')) expect(await call(tool, args)).toBe('Error: a path cannot hold a NUL character')
  })
})

describe('a path that changes under the call', () => {
  it('is refused where a parent folder becomes a link to the outside', async () => {
    const outside = folder({ 'own.txt': 'secret' })
    const cwd = folder({ 'dir/own.txt': 'own' })
    const workdir = await Workdir.of('read_file', { callId: 'c1', agent: { cwd } as never })
    const real = await workdir.resolve('dir/own.txt')
    execFileSync('mv', [join(cwd, 'dir'), join(cwd, 'moved')])
    symlinkSync(outside, join(cwd, 'dir'))
    await expect(workdir.open(real)).rejects.toMatchObject({ code: 'CHANGED' })
  })

  it('is refused where the file becomes a link', async () => {
    const cwd = folder({ 'a.txt': 'own' })
    mkdirSync(join(cwd, 'dir'))
    const workdir = await Workdir.of('read_file', { callId: 'c1', agent: { cwd } as never })
    const real = await workdir.resolve('dir/new.txt')
    symlinkSync('../a.txt', real)
    await expect(workdir.open(real)).rejects.toMatchObject({ code: 'NOT_A_FILE' })
  })
})
