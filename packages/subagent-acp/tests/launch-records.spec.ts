import { bootId, identify, isAlive, type ProcessId, signalProcess } from '@offshoot/processes'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LaunchRecords } from '../src/launch-records.ts'

interface Host {
  readonly child: ProcessId
  readonly grandchild: ProcessId
  /** SIGKILL, and wait until it is gone. */
  crash(): Promise<void>
}

function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'offshoot-records-'))
  onTestFinished(() => { rmSync(dir, { recursive: true, force: true }) })
  return dir
}

/** A process that has recorded a child in `dir`. What is left of it goes when the test ends. */
async function startHost(dir: string): Promise<Host> {
  const host = spawn(process.execPath, [new URL('host.mjs', import.meta.url).pathname, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => { host.kill('SIGKILL') })
  const [said] = await once(host.stdout, 'data') as [Buffer]
  const { child, grandchild } = JSON.parse(said.toString()) as Host
  onTestFinished(() => { for (const each of [child, grandchild]) signalProcess(each, 'SIGKILL') })
  return {
    child, grandchild,
    crash: async () => {
      host.kill('SIGKILL')
      await once(host, 'exit')
    },
  }
}

const files = (dir: string): string[] => readdirSync(dir)

/** Change what a record holds. */
function edit(dir: string, change: (record: Record<string, unknown>) => object): void {
  const [name] = files(dir)
  const file = join(dir, name!)
  writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>)))
}

describe('what a crashed host left behind', () => {
  it('is ended by the next one, in whatever session it is, and forgotten', async () => {
    const dir = newFolder()
    const host = await startHost(dir)
    await host.crash()
    expect([host.child, host.grandchild].map(isAlive)).toEqual([true, true])
    expect(await new LaunchRecords(dir).reapOrphans()).toEqual([{ pid: host.child.pid, command: 'some-agent' }])
    await expect.poll(() => [host.child, host.grandchild].filter(isAlive)).toEqual([])
    expect(files(dir)).toEqual([])
  })

  it('is found also where its own agent is gone already', async () => {
    const dir = newFolder()
    const host = await startHost(dir)
    await host.crash()
    signalProcess(host.child, 'SIGKILL')
    await expect.poll(() => isAlive(host.child)).toBe(false)
    expect(await new LaunchRecords(dir).reapOrphans()).toHaveLength(1)
    await expect.poll(() => isAlive(host.grandchild)).toBe(false)
  })

  it('is ended once, by one of several that start at once', async () => {
    const dir = newFolder()
    await (await startHost(dir)).crash()
    const reaped = await Promise.all([1, 2, 3].map(() => new LaunchRecords(dir).reapOrphans()))
    expect(reaped.flat()).toHaveLength(1)
    expect(files(dir)).toEqual([])
  })

  it('is taken up again where a reaper ended in the middle', async () => {
    const dir = newFolder()
    const host = await startHost(dir)
    await host.crash()
    const [name] = files(dir)
    renameSync(join(dir, name!), join(dir, `${name}.${process.pid}-1`))
    expect(await new LaunchRecords(dir).reapOrphans()).toHaveLength(1)
    expect(files(dir)).toEqual([])
  })
})

describe('who is left alone', () => {
  it('what a living host owns, and its record', async () => {
    const dir = newFolder()
    const host = await startHost(dir)
    expect(await new LaunchRecords(dir).reapOrphans()).toEqual([])
    expect([host.child, host.grandchild].map(isAlive)).toEqual([true, true])
    expect(files(dir)).toHaveLength(1)
  })

  it('a process that has the pid of a child by now', async () => {
    const dir = newFolder()
    const host = await startHost(dir)
    await host.crash()
    edit(dir, record => ({ ...record, mark: 'of-nobody', child: { ...host.child, startTime: '1' } }))
    expect(await new LaunchRecords(dir).reapOrphans()).toEqual([])
    expect([host.child, host.grandchild].map(isAlive)).toEqual([true, true])
    expect(files(dir)).toEqual([])
  })

  it('whoever has these pids since the machine was started anew', async () => {
    const dir = newFolder()
    const host = await startHost(dir)
    await host.crash()
    edit(dir, record => ({ ...record, boot: `${bootId()}-before` }))
    expect(await new LaunchRecords(dir).reapOrphans()).toEqual([])
    expect(isAlive(host.child)).toBe(true)
    expect(files(dir)).toEqual([])
  })
})

describe('a record', () => {
  it('holds no argument of the command, and goes when it is told to', () => {
    const dir = newFolder()
    const forget = new LaunchRecords(dir).add(identify(process.pid)!, '/opt/agents/codex-acp', 'mark')
    expect(JSON.parse(readFileSync(join(dir, files(dir)[0]!), 'utf8'))).toMatchObject({ version: 1, command: 'codex-acp', mark: 'mark', child: { pid: process.pid } })
    forget()
    forget()
    expect(files(dir)).toEqual([])
  })

  it('that cannot be read, or names no child that there can be, is removed, and files that are none are left', async () => {
    const dir = newFolder()
    writeFileSync(join(dir, '12-ab.json'), '{"version": 1, "host"')
    writeFileSync(join(dir, '13-ab.json'), '{"version": 1}')
    // Of a host that lives, so that nobody is ended for it whatever happens.
    const self = identify(process.pid)!
    for (const pid of [0, 1]) new LaunchRecords(dir).add({ ...self, pid }, 'agent', 'mark')
    writeFileSync(join(dir, 'notes.txt'), 'mine')
    expect(await new LaunchRecords(dir).reapOrphans()).toEqual([])
    expect(files(dir)).toEqual(['notes.txt'])
  })

  it('that cannot be written, or removed, stops nobody', () => {
    const dir = newFolder()
    const records = new LaunchRecords(dir)
    const forget = records.add(identify(process.pid)!, 'agent', 'mark')
    rmSync(dir, { recursive: true })
    writeFileSync(dir, 'no folder any more')
    expect(forget).not.toThrow()
    expect(() => { records.add(identify(process.pid)!, 'agent', 'mark')() }).not.toThrow()
  })
})

it('a folder that others can write to is refused', () => {
  const dir = newFolder()
  chmodSync(dir, 0o777)
  expect(() => new LaunchRecords(dir)).toThrow(`${dir} is not a folder of this user alone`)
})
