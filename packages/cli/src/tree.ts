import type { Agent, TurnResult } from '@offshoot/agent'
import type { DelegationNode, SubagentRunInfo } from '@offshoot/subagent'
import type { LoggedRun, RunLog } from './run-log.ts'

/** What ran within `durationMs`, as a tree: each run by id, with its tool and how it ended. */
export function renderTree({ runs }: RunLog, { stopReason, diagnostic, usage }: TurnResult, durationMs: number): string {
  return `main ${ending({ stopReason, diagnostic, usage: { ...usage, durationMs } })}\n${branches<LoggedRun>(runs, run => `${describeRun(run.info)} ${run.result ? ending(run.result) : 'not ended'}`)}`
}

/** What runs now below `agent`, as a tree. */
export function renderLiveTree(agent: Agent, nodes: readonly DelegationNode[]): string {
  const { state, progress } = agent
  return `main ${doing(state, progress?.step, progress?.tool)}\n${branches<DelegationNode>(nodes, node => (
    `${describeRun(node)} ${doing(node.state, node.step, node.currentTool)} (${duration(Date.now() - node.startedAt)})`
  ))}`
}

/** `running, step 2, read_file` */
export function doing(state: string, step: number | undefined, tool: string | undefined): string {
  return [state, step === undefined ? undefined : `step ${step}`, tool].filter(part => part !== undefined).join(', ')
}

function branches<T extends { readonly children: readonly T[] }>(nodes: readonly T[], describe: (node: T) => string, indent = ''): string {
  return nodes.map((node, i) => {
    const last = i === nodes.length - 1
    return `${indent}${last ? '└─' : '├─'} ${describe(node)}\n${branches(node.children, describe, `${indent}${last ? '   ' : '│  '}`)}`
  }).join('')
}

interface Ending extends Pick<TurnResult, 'stopReason' | 'usage'> {
  readonly diagnostic?: string | undefined
}

function ending({ stopReason, usage, diagnostic }: Ending): string {
  const reason = diagnostic === undefined ? '' : `: ${oneLine(diagnostic)}`
  const tokens = usage.inputTokens === undefined && usage.outputTokens === undefined ? ''
    : `, ${usage.inputTokens ?? '?'} in + ${usage.outputTokens ?? '?'} out tokens`
  return `${stopReason}${reason} (${plural(usage.steps, 'step')}, ${plural(usage.toolCalls, 'tool call')}, ${duration(usage.durationMs)}${tokens})`
}

/** `run-1 research "count the packages"`, and `[background subagent-1]` where it is that task. */
export function describeRun({ runId, tool, provider, label }: SubagentRunInfo): string {
  const words = label === undefined ? '' : ` "${oneLine(label)}"`
  const task = tool?.taskId === undefined ? '' : ` [background ${tool.taskId}]`
  return `${runId} ${tool?.name ?? provider}${words}${task}`
}

export function duration(ms: number): string {
  return ms < 1000 ? `${ms} ms` : ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${Math.round(ms % 60_000 / 1000)} s`
}

/** `text` on one line of at most `width` characters, without control characters: it comes from models and tools. */
export function oneLine(text: string, width = 100): string {
  // oxlint-disable-next-line no-control-regex -- terminal escapes are what is taken out
  const line = text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
  const characters = [...line]
  return characters.length <= width ? line : `${characters.slice(0, width - 1).join('')}…`
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
