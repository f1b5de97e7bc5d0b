import type { AgentEvent } from '@offshoot/agent'
import type { DelegationNode } from '@offshoot/subagent'
import type { Context } from 'cordis'
import { watchAgents } from './agent-events.ts'
import { elapsed, type LiveNode } from './live-line.ts'
import { liveLines } from './live-lines.ts'
import type { LiveScreen } from './live-screen.ts'
import type { RunLog } from './run-log.ts'

/** Keep what lives at and below the root of `log` on the screen, until that is closed. The root works since `startedAt`. */
export function showLiveTree(screen: LiveScreen, ctx: Context, log: RunLog, startedAt: number): void {
  const changed = () => { screen.changed() }
  ctx.on('subagent/start', changed)
  ctx.on('subagent/end', changed)
  watchAgents(ctx, log.root, (_agent, event) => { if (isShown(event)) changed() })
  screen.show(size => liveLines(liveTree(ctx, log, startedAt), size))
}

/** What lives now: the root of `log`, and everything below it. */
export function liveTree(ctx: Context, log: RunLog, startedAt?: number): LiveNode {
  const { root } = log
  const { state, progress, session } = root
  const subagents = ctx.get('subagents')
  const { own, total } = subagents?.usage(root) ?? { own: root.usage, total: root.usage }
  const now = Date.now()
  return {
    id: 'main',
    doing: progress ? doing(progress.waitsFor, progress.tool, log.retryAt.get(session.id), now) : state,
    isQueued: false,
    step: progress?.step,
    elapsedMs: startedAt === undefined ? undefined : now - startedAt,
    usage: own,
    totalUsage: total,
    children: (subagents?.tree(root) ?? []).map(node => liveNode(node, log, now)),
  }
}

function liveNode(node: DelegationNode, log: RunLog, now: number): LiveNode {
  const { runId, tool, provider, label, state, waitsFor, currentTool, step, startedAt, sessionId, usage, totalUsage, children } = node
  return {
    id: runId,
    tool: tool?.name ?? provider,
    label,
    taskId: tool?.taskId,
    doing: state === 'running' ? doing(waitsFor, currentTool, sessionId === undefined ? undefined : log.retryAt.get(sessionId), now) : state,
    isQueued: state === 'queued',
    step,
    elapsedMs: now - startedAt,
    usage,
    totalUsage,
    children: children.map(child => liveNode(child, log, now)),
  }
}

/** What a turn does, or why it waits. */
function doing(waitsFor: DelegationNode['waitsFor'], tool: string | undefined, retryAt: number | undefined, now: number): string {
  switch (waitsFor) {
    case 'model':
      return 'model'
    case 'tools':
      return `runs ${tool ?? 'tools'}`
    case 'approval':
      return 'waits: approval'
    case 'slot':
      return 'waits: slot'
    case 'rate-limit':
      return retryAt === undefined || retryAt <= now ? 'rate limit' : `rate limit ${elapsed(retryAt - now + 999)}`
    case undefined:
      return 'running'
  }
}

function isShown({ type }: AgentEvent): boolean {
  return type !== 'text-delta' && type !== 'reasoning-delta' && type !== 'tool-progress'
}
