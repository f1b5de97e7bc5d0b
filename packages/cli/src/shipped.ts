import { readFileSync } from 'node:fs'

/** Every plugin that ships with the command, and can be carried within one file. */
export const shipped: Readonly<Record<string, () => Promise<unknown>>> = {
  '@offshoot/runtime': () => import('@offshoot/runtime'),
  '@offshoot/model-ai-sdk': () => import('@offshoot/model-ai-sdk'),
  '@offshoot/model-scripted': () => import('@offshoot/model-scripted'),
  '@offshoot/subagent-acp': () => import('@offshoot/subagent-acp'),
  '@offshoot/tool-files': () => import('@offshoot/tool-files'),
  '@offshoot/tool-shell': () => import('@offshoot/tool-shell'),
  '@offshoot/tool-subagent': () => import('@offshoot/tool-subagent'),
  '@offshoot/tool-fanout': () => import('@offshoot/tool-fanout'),
  '@offshoot/worktree': () => import('@offshoot/worktree'),
}

/**
 * Whether the app of a config file needs nothing but what ships with the command. Any other one is loaded from disk as a whole: a plugin from elsewhere brings packages of its own, and
 * must meet the same ones as its neighbours.
 */
export function isShipped(file: string): boolean {
  const names = namesIn(file)
  return names !== undefined && names.every(name => Object.hasOwn(shipped, name))
}

/** The names that a config file may hold; `undefined` for one that cannot be read. */
function namesIn(file: string): string[] | undefined {
  try {
    return Array.from(readFileSync(file, 'utf8').matchAll(/\bname['"]?:\s*(['"]?)([^'"\n,}#]+)\1/g), ([, , name]) => name!.trim()).filter(name => /[@./]/.test(name))
  } catch {
    return undefined
  }
}
