import { checkReply, type Fail, mapping, replyKeys, show, text } from './check.ts'
import { ScriptError } from './error.ts'
import { compileText, compileValue, type Scope, type Template } from './template.ts'
import type { Script, ScriptReply, ScriptRequest } from './types.ts'

interface Rule {
  /** What the rule's templates stand for, or `undefined` where it does not fit. */
  fit(request: ScriptRequest): Scope | undefined
  readonly reply: Template<ScriptReply>
}

/**
 * The script that answers with the first rule that fits.
 *
 * @throws {ScriptError} `INVALID_SCRIPT`, naming `source`, the rule's number and the key.
 */
export function followRules(list: unknown, source: string): Script {
  if (!Array.isArray(list) || list.length === 0) {
    throw new ScriptError('INVALID_SCRIPT', `${source}: must be a list of rules, not ${show(list)}`)
  }
  const rules = list.map((rule: unknown, n) => compileRule(rule, (key, sentence) => {
    throw new ScriptError('INVALID_SCRIPT', `${source}: rule ${n + 1}: ${key && `${key}: `}${sentence}`)
  }))
  return (request) => {
    for (const rule of rules) {
      const scope = rule.fit(request)
      if (scope) return rule.reply(scope)
    }
    throw new ScriptError('NO_REPLY',
      `no rule in ${source} fits label ${show(request.label)}, step ${request.step}, last message ${show(request.last)}; a rule without "when" fits everything`)
  }
}

function compileRule(value: unknown, fail: Fail): Rule {
  const { when = {}, ...rest } = mapping(value, '', ['when', ...replyKeys], fail)
  const { label, step, last } = mapping(when, 'when', ['label', 'step', 'last'], fail)
  if (step !== undefined && !(Number.isInteger(step) && Number(step) >= 1)) fail('when.step', `must be a step's number, from 1, not ${show(step)}`)
  const labelled = label === undefined ? undefined : matcher(label, 'when.label', fail)
  const said = last === undefined ? undefined : matcher(last, 'when.last', fail)
  return {
    fit(request) {
      if (step !== undefined && step !== request.step) return undefined
      if (labelled !== undefined && !(typeof labelled === 'string' ? labelled === request.label : labelled.test(request.label))) return undefined
      const match = said instanceof RegExp ? said.exec(request.last) : undefined
      if (match === null || (typeof said === 'string' && !request.last.includes(said))) return undefined
      return { last: request.last, results: request.results, match }
    },
    reply: compileReply(checkReply(rest, fail), said instanceof RegExp ? said : undefined, fail),
  }
}

/** A text to compare with, or the pattern that it spells. */
function matcher(value: unknown, key: string, fail: Fail): string | RegExp {
  const spelled = text(value, key, fail)
  const [, source, flags] = /^\/(.+)\/([dgimsuvy]*)$/s.exec(spelled) ?? []
  if (source === undefined) return spelled
  // Those two remember where the last match ended.
  if (/[gy]/.test(flags!)) fail(key, `${spelled} cannot have the flags g and y`)
  try {
    return new RegExp(source, flags)
  } catch (error) {
    return fail(key, error instanceof Error ? error.message : String(error))
  }
}

function compileReply(reply: ScriptReply, pattern: RegExp | undefined, fail: Fail): Template<ScriptReply> {
  const answer = reply.reply === undefined ? undefined : compileText(reply.reply, pattern, sentence => fail('reply', sentence))
  const calls = reply.calls?.map(({ tool, args = {} }, n) => ({
    tool, args: compileValue(args, pattern, sentence => fail(`calls[${n}].args`, sentence)) as Template<Record<string, unknown>>,
  }))
  return scope => ({
    ...reply,
    ...(answer ? { reply: answer(scope) } : {}),
    ...(calls ? { calls: calls.map(({ tool, args }) => ({ tool, args: args(scope) })) } : {}),
  })
}
