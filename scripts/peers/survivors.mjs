import { readlinkSync } from 'node:fs'
import { listProcesses, wasStartedWith } from './app.mjs'

/**
 * Living processes that belong to an agent whose HOME and working folders are in `folder`, also those that have left every group,
 * session and parent: by their environment, their working folder, or their arguments.
 *
 * @param {string} folder
 */
export function survivors(folder) {
  return listProcesses().filter(({ pid, command }) => pid !== process.pid
    && (command.includes(folder) || wasStartedWith(pid, 'HOME', folder) || workingFolder(pid).startsWith(folder)))
}

/** @param {number} pid */
function workingFolder(pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    // It ended, or is another user's.
    return ''
  }
}
