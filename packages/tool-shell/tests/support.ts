import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Agent } from '@offshoot/agent'
import ToolService from '@offshoot/tools'
import { Context } from 'cordis'
import { onTestFinished } from 'vitest'
import * as toolShell from '../src/index.ts'

/** A folder that goes with the test. */
export function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'offshoot-shell-')))
  onTestFinished(() => { rmSync(path, { recursive: true, force: true }) })
  return path
}

/** An app with the plugin, and a way to call its tool as an agent in `cwd` does, up to what its model reads. */
export async function app(config: Parameters<typeof toolShell.Config>[0] = {}, cwd: string | undefined = folder(), tools: Partial<ToolService.Config> = {}) {
  const ctx = new Context()
  onTestFinished(async () => { await ctx.fiber.dispose() })
  await ctx.plugin(ToolService, tools)
  const fiber = await ctx.plugin(toolShell, config ?? {})
  const { core } = ctx.tools
  const view = core.view()
  const call = async (args: Record<string, unknown>, signal?: AbortSignal) => {
    const result = await view.execute('shell', args, {
      callId: 'c1', ...(signal ? { signal } : {}), ...(cwd === undefined ? {} : { agent: { cwd, tools: core.view() } as Agent }),
    })
    return core.output.result(result, 'shell', view)
  }
  const shell = async (command: string, args: Record<string, unknown> = {}, signal?: AbortSignal) => {
    const { content, isError } = await call({ command, ...args }, signal)
    const text = content.map(block => block.type === 'text' ? block.text : '').join('')
    if (isError !== text.startsWith('Error: ')) throw new Error(`isError is ${isError} for: ${text}`)
    return text
  }
  return { ctx, fiber, cwd, shell }
}

/** A word that no other process has in its arguments or environment. */
export function marker(): string {
  const mark = `offshoot-${randomBytes(8).toString('hex')}`
  onTestFinished(() => {
    for (const pid of withMark(mark)) process.kill(pid, 'SIGKILL')
  })
  return mark
}

/** The processes that live and have `mark` in their arguments or environment; with `name`, only those that run it. */
export function withMark(mark: string, name?: string): number[] {
  return readdirSync('/proc').filter(pid => /^\d+$/.test(pid)).map(Number).filter(pid => {
    const read = (file: string) => {
      try {
        return readFileSync(`/proc/${pid}/${file}`, 'utf8')
      } catch {
        return ''
      }
    }
    const [, runs, state] = /\((.*)\) (\S)/s.exec(read('stat')) ?? []
    if (state === undefined || state === 'Z' || state === 'X' || name !== undefined && runs !== name) return false
    return read('cmdline').includes(mark) || read('environ').includes(mark)
  })
}

/** Waits until `count` processes with `mark` run `sleep`. */
export async function untilAsleep(mark: string, count: number): Promise<void> {
  await until(() => withMark(mark, 'sleep').length === count, () => `expected ${count} sleepers, there are ${withMark(mark, 'sleep').length}`)
}

/** Waits until no process has `mark`. */
export async function untilGone(mark: string): Promise<void> {
  await until(() => withMark(mark).length === 0, () => `there are still ${withMark(mark).length} processes`)
}

/** Waits until there is a file at `path`. */
export async function untilThere(path: string): Promise<void> {
  await until(() => existsSync(path), () => `there is no ${path}`)
}

async function until(condition: () => boolean, describe: () => string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (condition()) return
    await delay(10)
  }
  throw new Error(describe())
}
