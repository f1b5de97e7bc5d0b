import type { Agent } from '@offshoot/agent'
import type { PublishedRun } from './run.ts'
import type { DelegationNode } from './types.ts'

/** The live runs that `agent` started, or all of them under those that no live child started, oldest first. */
export function delegationTree(live: Iterable<PublishedRun>, agent?: Agent): DelegationNode[] {
  const byParent = new Map<Agent, PublishedRun[]>()
  const children = new Set<Agent>()
  for (const run of live) {
    const siblings = byParent.get(run.parent)
    if (siblings) siblings.push(run)
    else byParent.set(run.parent, [run])
    if (run.agent) children.add(run.agent)
  }
  const below = (parent: Agent): DelegationNode[] => byParent.get(parent)?.map(node) ?? []
  const node = ({ info, state, agent: child }: PublishedRun): DelegationNode => {
    const progress = child?.progress
    return {
      ...info,
      state,
      ...(progress ? { step: progress.step, usage: progress.usage } : {}),
      ...(progress?.tool === undefined ? {} : { currentTool: progress.tool }),
      children: child ? below(child) : [],
    }
  }
  return agent ? below(agent) : [...byParent.keys()].filter(parent => !children.has(parent)).flatMap(below)
}
