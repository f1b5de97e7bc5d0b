import { type App, loadApp } from '@offshoot/loader'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { openApp } from './app.ts'
import type { Io } from './io.ts'

/** Every plugin that ships with the command, and can be carried within one file. */
const shipped: Readonly<Record<string, () => Promise<unknown>>> = {
  '@offshoot/runtime': () => import('@offshoot/runtime'),
  '@offshoot/model-ai-sdk': () => import('@offshoot/model-ai-sdk'),
  '@offshoot/model-scripted': () => import('@offshoot/model-scripted'),
  '@offshoot/subagent-acp': () => import('@offshoot/subagent-acp'),
  '@offshoot/tool-files': () => import('@offshoot/tool-files'),
  '@offshoot/tool-shell': () => import('@offshoot/tool-shell'),
  '@offshoot/tool-subagent': () => import('@offshoot/tool-subagent'),
}

/**
 * The app of a config file. One whose plugins all ship with the command is made of what is carried here; any other is loaded from disk
 * as a whole: a plugin from elsewhere brings packages of its own, and must meet the same ones as its neighbours.
 */
export async function openCarried(file: string, io: Pick<Io, 'stderr'>): Promise<App> {
  const names = namesIn(file)
  if (!names || names.some(name => !Object.hasOwn(shipped, name))) {
    const { href } = pathToFileURL(createRequire(import.meta.url).resolve('@offshoot/loader'))
    const { loadApp: loadFromDisk } = await import(href) as { loadApp: typeof loadApp }
    return openApp(file, io, loadFromDisk)
  }
  const modules = new Map(Object.entries(shipped))
  return openApp(file, io, (path, options) => loadApp(path, { ...options, modules }))
}

/** The names that a config file may hold; `undefined` for one that cannot be read. */
function namesIn(file: string): string[] | undefined {
  try {
    return Array.from(readFileSync(file, 'utf8').matchAll(/\bname['"]?:\s*(['"]?)([^'"\n,}#]+)\1/g), ([, , name]) => name!.trim()).filter(name => /[@./]/.test(name))
  } catch {
    return undefined
  }
}
