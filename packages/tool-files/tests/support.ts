import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Agent } from '@offshoot/agent'
import ToolService from '@offshoot/tools'
import { Context } from 'cordis'
import { onTestFinished } from 'vitest'
import * as toolFiles from '../src/index.ts'

/** A folder with `files` in it that goes with the test. */
export function folder(files: Record<string, string | Uint8Array> = {}): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'offshoot-files-')))
  onTestFinished(() => { rmSync(path, { recursive: true, force: true }) })
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), content)
  }
  return path
}

/** An app with the plugin, and a way to call its tools as an agent in `cwd` does: the text of the result. */
export async function app(cwd: string | undefined, config: Parameters<typeof toolFiles.Config>[0] = {}) {
  const ctx = new Context()
  onTestFinished(async () => { await ctx.fiber.dispose() })
  await ctx.plugin(ToolService)
  const fiber = await ctx.plugin(toolFiles, config ?? {})
  const call = async (tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<string> => {
    const exec = { callId: 'c1', ...(signal ? { signal } : {}), ...(cwd === undefined ? {} : { agent: { cwd } as Agent }) }
    const { content, isError } = await ctx.tools.view().execute(tool, args, exec)
    const text = content.map(block => block.type === 'text' ? block.text : '').join('')
    // Where the result is an error is part of what tests compare: an error's text begins so, and nothing else's does here.
    if (isError !== text.startsWith('Error: ')) throw new Error(`isError is ${isError} for: ${text}`)
    return text
  }
  return { ctx, fiber, call }
}
