import type { Plugin } from 'cordis'
import { describeError, quoteList } from './describe.ts'

/** A module that is no plugin, or that could not be imported. */
export class PluginError extends Error {
  override readonly name = 'PluginError'
}

type Exports = Record<string, unknown>

export function importing(url: URL): () => Promise<unknown> {
  return () => import(/* @vite-ignore */ url.href)
}

/** @throws {PluginError} in a sentence */
export async function loadPlugin(load: () => Promise<unknown>): Promise<Plugin> {
  let exports: Exports
  try {
    exports = await load() as Exports
  } catch (error) {
    throw new PluginError(`cannot be imported: ${describeError(error)}`, { cause: error })
  }
  return pickPlugin(exports)
}

/** The default export, else the module itself: what every Cordis loader takes. */
function pickPlugin(exports: Exports): Plugin {
  const plugin = exports.default ?? exports
  if (hidesPlugin(exports)) {
    throw new PluginError('has a default export, which hides its exports "apply", "inject" and "Config"; remove the default export')
  }
  if (isPlugin(plugin)) return plugin
  const names = Object.keys(exports)
  const some = names.length > 4 ? [...names.slice(0, 3).map(name => JSON.stringify(name)), '…'].join(', ') : quoteList(names)
  throw new PluginError(`is not a plugin: it exports ${some || 'nothing'}; a plugin exports "apply", or a class as default`)
}

function hidesPlugin(exports: Exports): boolean {
  if (!('default' in exports) || typeof exports.apply !== 'function') return false
  if (!isPlugin(exports.default)) return true
  const shown = exports.default as unknown as Exports
  return ['inject', 'Config'].some(key => exports[key] !== undefined && exports[key] !== shown[key])
}

function isPlugin(value: unknown): value is Plugin {
  if (typeof value === 'function') return true
  return typeof value === 'object' && value !== null && typeof (value as { apply?: unknown }).apply === 'function'
}
