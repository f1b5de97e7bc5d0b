import type { Agent } from '@offshoot/agent'
import type { Entry } from '@offshoot/session'
import type { ProviderStartRequest, SubagentSeed } from '@offshoot/subagent'

/** `turns`: the parent's completed turns. `steps`: also the completed steps of the turn under way. */
export type SeedKind = 'turns' | 'steps'

export interface SeedPoint {
  /** How many entries of the parent's log the child begins with. They are balanced: every tool call in them has its result. */
  readonly length: number
  readonly turns: number
  readonly steps: number
}

/** Where a child that is made now leaves its parent's conversation. It costs the same however long that is. */
export function seedPoint({ session, progress }: Agent, kind: SeedKind): SeedPoint {
  const before = progress?.logLength ?? session.length
  const turns = session.turnsWithin(before)
  if (!progress || kind === 'turns') return { length: before, turns, steps: 0 }
  // Results are logged once all calls of a message have theirs, so only the newest entry can wait for some.
  const open = isUnanswered(session.last) ? 1 : 0
  return { length: session.length - open, turns, steps: progress.usage.steps - open }
}

function isUnanswered(entry: Entry | undefined): boolean {
  return entry?.message.role === 'assistant' && entry.message.content.some(part => part.type === 'tool-call' && !part.providerExecuted)
}

/** In what the child's requests differ from the parent's, before the child's task. */
export function movedParts(child: Agent, parent: Agent, { toolFilter }: ProviderStartRequest): SubagentSeed['moved'] {
  const moved: SubagentSeed['moved'][number][] = []
  if (child.system.content !== parent.system.content) moved.push('system')
  // Without a filter of its own, the child has the parent's filter and own tools.
  if ((toolFilter || child.answer !== parent.answer) && !sameTools(child, parent)) moved.push('tools')
  if (child.modelName !== parent.modelName) moved.push('model')
  return moved
}

function sameTools(child: Agent, parent: Agent): boolean {
  const [a, b] = [child.tools.specs, parent.tools.specs]
  return a.length === b.length && a.every((spec, i) => spec === b[i])
}
