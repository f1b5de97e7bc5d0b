import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

/**
 * What a driver is told, as JSON in its first argument. It makes a session (or loads one), gives it one prompt, says each event as a line of JSON on stdout, and
 * cancels when its input says so. How it ends is the client's.
 *
 * @typedef {object} Task
 * @property {string} library the folder in which the client is installed
 * @property {string} node for clients that need a newer one than ours
 * @property {string} command the agent's
 * @property {string[]} args
 * @property {string} cwd
 * @property {string} prompt
 * @property {boolean} allow what to answer when the agent asks
 * @property {string} [load] a session that is there
 *
 * @typedef {{ event: 'session', id: string } | { event: 'text', text: string } | { event: 'asked' } | { event: 'end', reason: string } | { event: 'error', message: string }} Event
 */

/** @type {Task} */
export const task = JSON.parse(process.argv[2] ?? 'null')

/** @param {Event} event */
export function say(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`)
}

/** Runs `cancel` once the bench says so. @param {() => unknown} cancel */
export function onCancel(cancel) {
  const lines = createInterface({ input: process.stdin }).on('line', line => { if (line === 'cancel') void cancel() })
  // It is no reason to stay.
  process.stdin.on('end', () => lines.close())
}

/** The option that says what the task wants. @param {{ options: readonly { optionId: string, kind: string }[] }} request */
export function choice({ options }) {
  say({ event: 'asked' })
  const option = options.find(({ kind }) => kind === (task.allow ? 'allow_once' : 'reject_once'))
  return { outcome: option ? { outcome: /** @type {const} */ ('selected'), optionId: option.optionId } : { outcome: /** @type {const} */ ('cancelled') } }
}

/** Do it all; what it throws is said. Ends the process. @param {() => Promise<void>} body */
export async function drive(body) {
  try {
    await body()
  } catch (error) {
    const { message, data } = /** @type {{ message?: string, data?: unknown }} */ (error)
    say({ event: 'error', message: `${message ?? String(error)}${data === undefined ? '' : ` ${JSON.stringify(data)}`}` })
  }
  process.exit(0)
}

/** A module of the client's installation. @param {string} name */
export function library(name) {
  return import(pathToFileURL(createRequire(join(task.library, 'package.json')).resolve(name)).href)
}
