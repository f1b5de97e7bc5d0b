/**
 * How one protocol says it. All of them are HTTP with JSON, and stream by server-sent events.
 *
 * @typedef {object} Protocol
 * @property {RegExp} path
 * @property {(body: Json, path: string) => boolean} isStreamed
 * @property {(body: Json) => import('./script.mjs').Request} read
 * @property {(text: string, body: Json) => object} whole an answer in one piece
 * @property {(send: Send, body: Json) => Writer} stream an answer in pieces
 *
 * Either `say` any number of times, or `run` once; `begin` before, `end` after.
 *
 * @typedef {object} Writer
 * @property {() => void} begin
 * @property {(chunk: string) => void} say
 * @property {(tool: string, args: object) => void} run
 * @property {() => void} end
 *
 * @typedef {(data: object | string, event?: string) => void} Send
 *
 * JSON from outside, of which nothing is known.
 *
 * @typedef {Record<string, unknown>} Json
 */

/** What every answer claims to have cost. */
export const tokens = { input: 11, output: 7 }

let ids = 0

/** @param {string} prefix */
export function newId(prefix) {
  return `${prefix}_${++ids}`
}

/** @param {unknown} value @returns {Json} */
export function fields(value) {
  return typeof value === 'object' && value !== null ? /** @type {Json} */ (value) : {}
}

/** @param {unknown} value @returns {Json[]} */
export function list(value) {
  return Array.isArray(value) ? value.map(fields) : []
}

/** The texts of a message's content: a string, or parts of which some have text. @param {unknown} content @returns {string[]} */
export function textsOf(content) {
  if (typeof content === 'string') return [content]
  return list(content).flatMap(({ text }) => typeof text === 'string' ? [text] : [])
}

/** @param {unknown[]} names @returns {string[]} */
export function strings(names) {
  return names.filter(name => typeof name === 'string')
}
