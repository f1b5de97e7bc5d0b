import { suggest } from '@offshoot/problems'
import type { ScriptReply } from './types.ts'

/** Refuses a script: `key` is where in a rule or reply (empty for the whole), `sentence` what is wrong there. */
export type Fail = (key: string, sentence: string) => never

export const replyKeys = ['reply', 'reasoning', 'calls', 'delayMs', 'fail', 'finish'] as const

const finishReasons: readonly unknown[] = ['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'] satisfies ScriptReply['finish'][]

/** `value` as a reply, every part of it checked. */
export function checkReply(value: unknown, fail: Fail): ScriptReply {
  const reply = mapping(value, '', replyKeys, fail)
  const { calls, delayMs, finish } = reply
  if (reply.reply !== undefined) text(reply.reply, 'reply', fail)
  if (reply.reasoning !== undefined) text(reply.reasoning, 'reasoning', fail)
  if (calls !== undefined) checkCalls(calls, fail)
  if (delayMs !== undefined) milliseconds(delayMs, 'delayMs', fail)
  if (finish !== undefined && !finishReasons.includes(finish)) {
    fail('finish', `must be one of ${finishReasons.join(', ')}, not ${show(finish)}`)
  }
  const said = replyKeys.filter(key => reply[key] !== undefined && key !== 'delayMs' && key !== 'fail')
  if (reply.fail !== undefined) {
    checkFailure(reply.fail, fail)
    if (said.length > 0) fail('fail', `a request that fails has no "${said[0]}"`)
  } else if (said.length === 0) {
    fail('', 'says nothing; give it reply, calls, reasoning, finish or fail')
  }
  return reply
}

/** `value` as a mapping with no keys but `known`. */
export function mapping(value: unknown, key: string, known: readonly string[], fail: Fail): Record<string, unknown> {
  if (!isMapping(value)) fail(key, `must be a mapping, not ${show(value)}`)
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) fail(key, `unknown key "${name}"${suggest(name, known, 'keys')}`)
  }
  return value
}

export function text(value: unknown, key: string, fail: Fail): string {
  if (typeof value !== 'string') fail(key, `must be text, not ${show(value)}`)
  return value
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `value` as it may stand in a sentence. */
export function show(value: unknown): string {
  const shown = JSON.stringify(value) ?? 'nothing'
  return shown.length > 60 ? `${shown.slice(0, 60)}…` : shown
}

function checkCalls(calls: unknown, fail: Fail): void {
  if (!Array.isArray(calls)) fail('calls', `must be a list, not ${show(calls)}`)
  for (const [n, value] of calls.entries()) {
    const key = `calls[${n}]`
    const { tool, args } = mapping(value, key, ['tool', 'args'], fail)
    if (text(tool, `${key}.tool`, fail) === '') fail(`${key}.tool`, 'must name a tool')
    if (args !== undefined && !isMapping(args)) fail(`${key}.args`, `must be a mapping, not ${show(args)}`)
  }
}

function checkFailure(value: unknown, fail: Fail): void {
  const { message, status, code, retryAfterMs } = mapping(value, 'fail', ['message', 'status', 'code', 'retryAfterMs'], fail)
  text(message, 'fail.message', fail)
  if (code !== undefined) text(code, 'fail.code', fail)
  if (retryAfterMs !== undefined) milliseconds(retryAfterMs, 'fail.retryAfterMs', fail)
  if (status !== undefined && !(Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599)) {
    fail('fail.status', `must be an HTTP status from 400 to 599, not ${show(status)}`)
  }
}

function milliseconds(value: unknown, key: string, fail: Fail): void {
  if (!(typeof value === 'number' && value >= 0 && Number.isFinite(value))) fail(key, `must be milliseconds, from 0, not ${show(value)}`)
}
