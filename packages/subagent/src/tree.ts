import type { Agent } from '@offshoot/agent'
import type { Usage } from '@offshoot/session'
import type { ChildProgress, DelegationNode, SubagentRunInfo } from './types.ts'

/** A run that lives, or a start that waits for its slot. */
export interface TreeEntry {
  readonly parent: Agent
  readonly info: SubagentRunInfo
  readonly state: DelegationNode['state']
  readonly agent?: Agent | undefined
  readonly progress?: ChildProgress | undefined
}

/** What `agent` started and is still there, or all of it under those that no live child started, oldest first. */
export function delegationTree(entries: Iterable<TreeEntry>, totalOf: (agent: Agent) => Usage, agent?: Agent): DelegationNode[] {
  const byParent = new Map<Agent, TreeEntry[]>()
  const children = new Set<Agent>()
  for (const entry of entries) {
    const siblings = byParent.get(entry.parent)
    if (siblings) siblings.push(entry)
    else byParent.set(entry.parent, [entry])
    if (entry.agent) children.add(entry.agent)
  }
  const below = (parent: Agent): DelegationNode[] => byParent.get(parent)?.map(node) ?? []
  const node = ({ info, state, agent: child, progress }: TreeEntry): DelegationNode => {
    const usage = child ? child.usage : progress?.usage
    return {
      ...info,
      state,
      ...(usage ? { usage, totalUsage: child ? totalOf(child) : usage } : {}),
      ...(progress ? { step: progress.step, waitsFor: progress.waitsFor } : {}),
      ...(progress?.tool === undefined ? {} : { currentTool: progress.tool }),
      children: child ? below(child) : [],
    }
  }
  return agent ? below(agent) : [...byParent.keys()].filter(parent => !children.has(parent)).flatMap(below)
}
