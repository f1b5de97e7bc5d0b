import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { show } from './check.ts'
import { ScriptError } from './error.ts'
import { followRules } from './rules.ts'
import type { Script } from './types.ts'

/**
 * The script in `file`, by its extension: rules (`.yml`, `.yaml`, `.json`) or a module whose default export is a `Script`.
 *
 * @throws {ScriptError} `INVALID_SCRIPT`, naming the file and what in it is wrong.
 */
export async function loadScript(file: string): Promise<Script> {
  switch (extname(file)) {
    case '.yml':
    case '.yaml':
    case '.json':
      return followRules(await readRules(file), `script ${file}`)
    case '.js':
    case '.mjs':
    case '.ts':
      return importScript(file)
    default:
      throw invalid(file, 'must end in .yml, .yaml, .json, .js, .mjs or .ts')
  }
}

async function readRules(file: string): Promise<unknown> {
  const source = await readFile(file, 'utf8').catch((error: unknown) => { throw invalid(file, 'cannot be read', error) })
  // Most scripts are given as rules, in the config.
  const { parseDocument } = await import('yaml')
  const document = parseDocument(source)
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) throw invalid(file, problem.message.split('\n')[0]!.replace(/:$/, ''))
  return document.toJS()
}

async function importScript(file: string): Promise<Script> {
  const module = await import(/* @vite-ignore */ pathToFileURL(file).href).catch((error: unknown) => {
    const untyped = error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION'
    throw untyped ? invalid(file, `Node ${process.version} does not run TypeScript; make it .mjs, or use Node 22.18`) : invalid(file, 'cannot be loaded', error)
  }) as { default?: unknown }
  const script = module.default
  if (typeof script !== 'function') throw invalid(file, `its default export must be a function, not ${show(script)}`)
  return script as Script
}

function invalid(file: string, sentence: string, cause?: unknown): ScriptError {
  const reason = cause instanceof Error ? `: ${cause.message}` : ''
  return new ScriptError('INVALID_SCRIPT', `script ${file}: ${sentence}${reason}`, { cause })
}
