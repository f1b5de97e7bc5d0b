import type { Agent, AgentEvent } from '@offshoot/agent'
import type { Context } from 'cordis'

/** Hear what `root` and every agent made from now on does. Delegated agents are made later than this. */
export function watchAgents(ctx: Context, root: Agent, listener: (agent: Agent, event: AgentEvent) => void): void {
  root.on(event => { listener(root, event) })
  ctx.on('agent/created', agent => {
    agent.on(event => { listener(agent, event) })
  })
}
