import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { app, marker, untilAsleep, untilGone, untilThere, withMark } from './support.ts'

/** A shell command that sleeps, with `mark`, holds no output open, and ignores `signals`. */
const stubborn = (mark: string, signals: string) => `MARK=${mark} bash -c "trap '' ${signals}; sleep 1000; sleep 1000" >/dev/null 2>&1`

describe.skipIf(process.platform !== 'linux')('no process outlives its call', () => {
  it('at the end of the command: what it left in the background is ended, and named', async () => {
    const mark = marker()
    const { shell } = await app()
    expect(await shell(`MARK=${mark} nohup sleep 1000 >/dev/null 2>&1 & echo started`)).toBe(
      'started\n[1 left running in the background, and ended: sleep 1000]')
    expect(withMark(mark)).toEqual([])
  })

  it('at the end of the command: a background process that holds the output open does not hold the call', async () => {
    const mark = marker()
    const { shell } = await app()
    expect(await shell(`export MARK=${mark}; sleep 1000 & sleep 1001 & echo started; exit 5`)).toMatch(
      /^started\n\[exit code 5\]\n\[2 left running in the background, and ended: sleep 100[01]; sleep 100[01]\]$/)
    expect(withMark(mark)).toEqual([])
  })

  it('at the end of the command: a background process that ignores SIGTERM and SIGHUP', async () => {
    const mark = marker()
    const { shell, cwd } = await app({ graceMs: 50 })
    const ready = join(cwd, 'ready')
    const text = await shell(`MARK=${mark} bash -c "trap '' TERM HUP; touch ${ready}; while :; do sleep 1000; done" & until [ -e ${ready} ]; do :; done`)
    expect(text).toMatch(/^\[2 left running in the background, and ended: /)
    expect(withMark(mark)).toEqual([])
  })

  it('names at most five of many, each cut to a length', async () => {
    const mark = marker()
    const { shell } = await app()
    const text = await shell(`export MARK=${mark}; for i in 1 2 3 4 5 6 7; do sleep 1000 ${'0 '.repeat(60)} & done`)
    expect(text).toMatch(/^\[7 left running in the background, and ended: (sleep 1000 [0 ]{69}…; ){5}2 more\]$/)
    expect(withMark(mark)).toEqual([])
  })

  it('does not count a background process that ends by itself just after', async () => {
    const { shell } = await app()
    expect(await shell(`(until [ -e go ]; do :; done; echo late >&2) & touch go; echo done; exec true`)).toMatch(/^(done\nlate|late\ndone)\n$/)
  })

  it('by its timeout: the whole group, and what it had written is answered', async () => {
    const mark = marker()
    const { shell } = await app()
    expect(await shell(`export MARK=${mark}; echo so far; sleep 1000 & sleep 1000 | cat`, { timeout_ms: 500 })).toBe('so far\n[timed out: ended after 500 ms]')
    expect(withMark(mark)).toEqual([])
  })

  it('by the timeout of the config', async () => {
    const mark = marker()
    const { shell } = await app({ timeoutMs: 200 })
    expect(await shell(`MARK=${mark} sleep 1000`)).toBe('[timed out: ended after 200 ms]')
    expect(withMark(mark)).toEqual([])
  })

  it('by an abort: the whole group, also those that ignore SIGTERM', async () => {
    const mark = marker()
    const { shell } = await app({ graceMs: 50 })
    const controller = new AbortController()
    const answer = shell(`${stubborn(mark, 'TERM')} & MARK=${mark} sleep 1000`, {}, controller.signal)
    await untilAsleep(mark, 2)
    controller.abort()
    expect(await answer).toBe('Error: shell command was cancelled')
    expect(withMark(mark)).toEqual([])
  })

  it('by an abort: what SIGTERM lets finish finishes', async () => {
    const mark = marker()
    const { shell, cwd } = await app()
    const controller = new AbortController()
    const answer = shell(`trap 'echo cleaned > cleaned; exit' TERM; touch ready; MARK=${mark} sleep 1000 & wait`, {}, controller.signal)
    await untilAsleep(mark, 1)
    controller.abort()
    expect(await answer).toBe('Error: shell command was cancelled')
    expect(readFileSync(join(cwd, 'cleaned'), 'utf8')).toBe('cleaned\n')
    expect(withMark(mark)).toEqual([])
  })

  it('by an abort while it ends what the command left, whose shell has gone', async () => {
    const mark = marker()
    const { shell, cwd } = await app()
    const controller = new AbortController()
    // On SIGTERM it says so, and lives on.
    const answer = shell(`MARK=${mark} bash -c "trap 'touch ending' TERM; touch ready; until [ -e go ]; do sleep 0.01; done" & until [ -e ready ]; do :; done`, {}, controller.signal)
    await untilThere(join(cwd, 'ending'))
    controller.abort()
    writeFileSync(join(cwd, 'go'), '')
    expect(await answer).toMatch(/left running in the background, and ended: bash -c/)
    expect(withMark(mark)).toEqual([])
  })

  it('before it starts, where the call is already aborted', async () => {
    const { shell } = await app()
    expect(await shell('touch started', {}, AbortSignal.abort())).toBe('Error: shell command was cancelled')
    expect(await shell('ls')).toBe('[no output]')
  })

  it('leaves no listener on a signal that lives on', async () => {
    const { shell } = await app()
    const { signal } = new AbortController()
    const added: string[] = []
    const original = { add: signal.addEventListener.bind(signal), remove: signal.removeEventListener.bind(signal) }
    signal.addEventListener = (...args: Parameters<typeof original.add>) => {
      added.push(args[0])
      original.add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof original.remove>) => {
      added.splice(added.indexOf(args[0]), 1)
      original.remove(...args)
    }
    for (let at = 0; at < 3; at++) expect(await shell('echo ok', {}, signal)).toBe('ok\n')
    expect(added).toEqual([])
  })

  it('by an abort and at the end of the command: those in process groups of their own', async () => {
    const mark = marker()
    const { shell } = await app({ graceMs: 50 })
    const controller = new AbortController()
    const answer = shell(`export MARK=${mark}; set -m; sleep 1000 & ${stubborn(mark, 'TERM')} & timeout 1000 sleep 1000`, {}, controller.signal)
    await untilAsleep(mark, 3)
    controller.abort()
    expect(await answer).toBe('Error: shell command was cancelled')
    expect(withMark(mark)).toEqual([])
    expect(await shell(`export MARK=${mark}; set -m; sleep 1000 & echo started`)).toBe('started\n[1 left running in the background, and ended: sleep 1000]')
    expect(withMark(mark)).toEqual([])
  })

  it('at the disposal of the plugin, which waits; later calls are refused', async () => {
    const mark = marker()
    const { fiber, shell } = await app({ graceMs: 50 })
    const answers = [shell(stubborn(mark, 'TERM')), shell(`MARK=${mark} sleep 1000`)]
    await untilAsleep(mark, 2)
    await fiber.dispose()
    expect(withMark(mark)).toEqual([])
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 2 }, () => 'Error: shell command was cancelled'))
    expect(await shell('echo late')).toBe('Error: shell command was cancelled')
  })

  it('at the disposal of the app', async () => {
    const mark = marker()
    const { ctx, shell } = await app()
    const answer = shell(`MARK=${mark} sleep 1000`)
    await untilAsleep(mark, 1)
    await ctx.fiber.dispose()
    expect(withMark(mark)).toEqual([])
    await answer
  })

  it('at the exit of the process: one listener, until the disposal', async () => {
    const before = process.listeners('exit')
    const mark = marker()
    const { fiber, shell } = await app()
    const added = process.listeners('exit').filter(listener => !before.includes(listener))
    expect(added).toHaveLength(1)
    const answers = [shell(`${stubborn(mark, 'TERM')} & MARK=${mark} sleep 1000`), shell(`MARK=${mark} sleep 1000`)]
    await untilAsleep(mark, 3)
    added[0]!.call(process, 0)
    await untilGone(mark)
    expect(await Promise.all(answers)).toEqual(['[ended by SIGKILL]', '[ended by SIGKILL]'])
    await fiber.dispose()
    expect(process.listeners('exit')).toEqual(before)
  })
})

describe.skipIf(process.platform !== 'linux')('a process that leaves the session', () => {
  it('survives, as the README says, and does not hold the call', async () => {
    const mark = marker()
    const { shell } = await app()
    expect(await shell(`MARK=${mark} setsid sleep 1000 & echo started`)).toBe('started\n')
    expect(withMark(mark)).toHaveLength(1)
  })

  it('does not keep what was written before from being read', async () => {
    const mark = marker()
    const { shell } = await app({ maxOutputBytes: 1_000_000 })
    const text = await shell(`MARK=${mark} setsid sleep 1000 & seq 1 20000`)
    expect(text).toBe(Array.from({ length: 20_000 }, (_, at) => `${at + 1}\n`).join(''))
  })
})
