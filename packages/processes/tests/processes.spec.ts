import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { bootId, descendantsOf, identify, isAlive, listProcesses, parsePs, signalGroup, signalProcess, wasStartedWith } from '../src/index.ts'
import { startShell } from './support.ts'

const find = (pid: number) => listProcesses().find(each => each.pid === pid)

/** End a process that is nobody's child any more, when the test does. */
function endLater(pid: number): number {
  onTestFinished(() => {
    const id = identify(pid)
    if (id) signalProcess(id, 'SIGKILL')
  })
  return pid
}

describe('a process', () => {
  it('is listed with its parent, group, session and arguments', async () => {
    const { pid } = await startShell('echo up; read line < /dev/zero')
    expect(find(pid)).toMatchObject({ pid, parent: process.pid, group: pid, session: pid, command: expect.stringContaining('echo up') })
  })

  it('is told by when it began from whoever has its pid later', async () => {
    const { pid } = await startShell('echo up; sleep 600')
    const id = identify(pid)!
    expect(isAlive(id)).toBe(true)
    expect(isAlive({ ...id, startTime: '1' })).toBe(false)
    expect(signalProcess({ ...id, startTime: '1' }, 'SIGKILL')).toBe(false)
    expect(isAlive(id)).toBe(true)
  })

  it('that is over does not count, reaped or not', async () => {
    // A parent that does not reap: its child stays as a zombie.
    const { said } = await startShell('sh -c "exit 0" & echo $!; exec sleep 600')
    const pid = Number(said)
    await expect.poll(() => /\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))).toBe(true)
    expect(identify(pid)).toBeUndefined()
    expect(find(pid)).toBeUndefined()
    expect(identify(2 ** 22 + 1)).toBeUndefined()
  })

  it('may have a name with parentheses and spaces', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'offshoot-processes-'))
    onTestFinished(() => { rmSync(folder, { recursive: true }) })
    const program = join(folder, 'a) S 1 (b')
    copyFileSync('/bin/sleep', program)
    const child = spawn(program, ['600'], { detached: true, stdio: 'ignore' })
    onTestFinished(() => { child.kill('SIGKILL') })
    await once(child, 'spawn')
    await expect.poll(() => find(child.pid!)?.command).toBe(`${program} 600`)
    expect(find(child.pid!)).toMatchObject({ parent: process.pid, group: child.pid, session: child.pid })
  })
})

describe('descendants', () => {
  it('are found at every depth, without the process itself', async () => {
    const { pid, said } = await startShell('sh -c "sh -c \'echo \\$\\$; sleep 600; :\'; :" ; :')
    const below = descendantsOf(pid).map(each => each.pid)
    expect(below).toContain(Number(said))
    expect(below).not.toContain(pid)
    expect(below.length).toBeGreaterThanOrEqual(2)
  })

  it('of whom nobody descends are none', () => {
    expect(descendantsOf(2 ** 22 + 1)).toEqual([])
  })
})

describe('what a process was started with', () => {
  it('is known also where it has left its session, and its parent is gone', async () => {
    const { child, said, exited } = await startShell('setsid sleep 600 > /dev/null & echo $!', { SOME_MARK: 'abc/def' })
    await exited
    const pid = endLater(Number(said))
    await expect.poll(() => find(pid)?.session).toBe(pid)
    expect(find(pid)?.parent).not.toBe(child.pid)
    expect(wasStartedWith(pid, 'SOME_MARK', 'abc/def')).toBe(true)
    expect(wasStartedWith(pid, 'SOME_MARK', 'abc')).toBe(true)
    expect(wasStartedWith(pid, 'SOME_MARK', 'def')).toBe(false)
    expect(wasStartedWith(pid, 'MARK', 'abc')).toBe(false)
  })

  it('is not known of one that is gone', () => {
    expect(wasStartedWith(2 ** 22 + 1, 'PATH', '')).toBe(false)
  })
})

describe('a signal', () => {
  it('reaches a whole group, and says whether there is one', async () => {
    const { exited, pid } = await startShell('sleep 600 & echo up; sleep 600')
    const members = listProcesses().filter(({ group }) => group === pid)
    expect(members.length).toBeGreaterThanOrEqual(2)
    expect(signalGroup(pid, 0)).toBe(true)
    expect(signalGroup(pid, 'SIGKILL')).toBe(true)
    await exited
    await expect.poll(() => members.filter(isAlive)).toEqual([])
  })

  it('reaches one process alone', async () => {
    const { exited, pid } = await startShell('echo up; exec sleep 600')
    expect(signalProcess(identify(pid)!, 'SIGTERM')).toBe(true)
    expect((await exited)[1]).toBe('SIGTERM')
  })

  it.each([0, 1])('to group %i goes to nobody, where the system would take it for one to oneself or to all', group => {
    expect(signalGroup(group, 0)).toBe(false)
  })
})

it('a boot has an id, always the same', () => {
  expect(bootId()).toMatch(/\S{8,}/)
  expect(bootId()).toBe(bootId())
})

describe('where there is no /proc', () => {
  it('the same process has the same start time to a program in another time zone', async () => {
    const { platform } = process
    onTestFinished(() => {
      Object.defineProperty(process, 'platform', { value: platform })
      vi.unstubAllEnvs()
    })
    const { pid } = await startShell('echo up; exec sleep 600')
    Object.defineProperty(process, 'platform', { value: 'darwin' })
    vi.stubEnv('TZ', 'Asia/Tokyo')
    const id = identify(pid)!
    expect(find(pid)).toMatchObject({ parent: process.pid, group: pid, session: pid, command: 'sleep 600' })
    vi.stubEnv('TZ', 'America/Lima')
    expect(isAlive(id)).toBe(true)
  })

  it('what ps says is read', () => {
    expect(parsePs([
      '    1     0     1 Ss   Mon Nov 30 08:00:01 2026     /sbin/launchd',
      '  501     1   501 S+   Tue Dec  1 09:10:11 2026     /usr/local/bin/node agent.js --flag "a b"',
      '  502   501   501 Z+   Tue Dec  1 09:10:12 2026     (sleep)',
      '',
    ].join('\n'))).toEqual([
      { pid: 1, parent: 0, group: 1, session: 1, startTime: 'Mon Nov 30 08:00:01 2026', command: '/sbin/launchd' },
      { pid: 501, parent: 1, group: 501, session: 501, startTime: 'Tue Dec 1 09:10:11 2026', command: '/usr/local/bin/node agent.js --flag "a b"' },
    ])
  })
})
