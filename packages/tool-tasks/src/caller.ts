import type { Agent } from '@offshoot/agent'

/** Tasks belong to agents: without one there are none to speak of. */
export function needCaller(tool: string, agent: Agent | undefined): Agent {
  if (!agent) throw new Error(`${tool} tool requires a calling agent (exec.agent was undefined)`)
  return agent
}
