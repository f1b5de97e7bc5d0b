import { checkFilter } from '@offshoot/tools'
import { isAbsolute } from 'node:path'
import { SubagentError } from './error.ts'
import { compileOutputSchema } from './output-schema.ts'
import type { SubagentProvider, SubagentStartRequest } from './types.ts'

/** @throws {SubagentError} `INVALID_REQUEST` for what no provider could do, naming the field. */
export function checkRequest({ prompt, parent, signal, toolFilter, maxDepth, cwd, outputSchema, timeoutMs, agentOptions }: SubagentStartRequest): void {
  if (!parent?.session || typeof parent.depth !== 'number') throw invalid('a start needs the parent agent ("parent")')
  if (parent.state === 'disposed') throw invalid(`the parent agent ${parent.id} is disposed and can have no child`)
  if (typeof signal?.aborted !== 'boolean') throw invalid('a start needs an abort signal ("signal"); new AbortController().signal never aborts')
  if (isBlank(prompt)) throw invalid('a start needs a prompt that is not blank ("prompt")')
  if (toolFilter) {
    try {
      checkFilter(toolFilter)
    } catch (error) {
      throw new SubagentError('INVALID_REQUEST', (error as Error).message, { cause: error })
    }
  }
  if (outputSchema !== undefined) compileOutputSchema(outputSchema)
  if (maxDepth !== undefined && !isWhole(maxDepth, 0)) throw invalid(`maxDepth must be a whole number from 0, not ${maxDepth}`)
  if (timeoutMs !== undefined && !isWhole(timeoutMs, 1)) throw invalid(`timeoutMs must be a whole number of milliseconds from 1, not ${timeoutMs}`)
  if (cwd !== undefined && !isAbsolute(cwd)) throw invalid(`cwd must be an absolute path, not "${cwd}"`)
  for (const key of ['maxSteps', 'maxOutputTokens'] as const) {
    const value = agentOptions?.[key]
    if (value !== undefined && !isWhole(value, 1)) throw invalid(`agentOptions.${key} must be a whole number from 1, not ${value}`)
  }
}

function isBlank(prompt: SubagentStartRequest['prompt'] | undefined): boolean {
  if (typeof prompt === 'string') return prompt.trim() === ''
  return !Array.isArray(prompt) || prompt.every(block => block.type !== 'file' && block.text.trim() === '')
}

function isWhole(value: number, from: number): boolean {
  return Number.isInteger(value) && value >= from
}

function invalid(message: string): SubagentError {
  return new SubagentError('INVALID_REQUEST', message)
}

/** Which capability a request field needs. */
const needed = { persona: 'persona', toolFilter: 'toolFilter', maxDepth: 'depthLimit', outputSchema: 'outputSchema' } as const

/** The sentence that says which of `wanted` the provider cannot do, or `undefined`. */
export function missingCapability(
  provider: SubagentProvider, wanted: Pick<SubagentStartRequest, keyof typeof needed>,
): string | undefined {
  for (const field of ['persona', 'toolFilter', 'maxDepth', 'outputSchema'] as const) {
    if (wanted[field] === undefined || provider.capabilities[needed[field]]) continue
    const able = Object.entries(provider.capabilities).filter(([, has]) => has).map(([name]) => name).join(', ') || 'none'
    return `subagent provider "${provider.name}" does not support ${field} (capability ${needed[field]}; it has: ${able}); leave ${field} out or use another provider`
  }
  return undefined
}

/** @throws {SubagentError} `INVALID_PROVIDER` for an object that cannot be one. */
export function checkProvider(provider: SubagentProvider): void {
  if (typeof provider?.name !== 'string' || provider.name.trim() === '') {
    throw new SubagentError('INVALID_PROVIDER', 'a subagent provider needs a name')
  }
  if (typeof provider.start !== 'function' || typeof provider.capabilities !== 'object' || provider.capabilities === null) {
    throw new SubagentError('INVALID_PROVIDER', `subagent provider "${provider.name}" needs capabilities and start(request)`)
  }
}
