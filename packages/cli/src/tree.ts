import type { TurnResult } from '@offshoot/agent'
import type { Usage } from '@offshoot/session'
import type { SubagentRunInfo } from '@offshoot/subagent'
import type { LoggedRun, RunLog } from './run-log.ts'
import { usageText } from './usage-text.ts'
import { duration, oneLine, plural } from './wording.ts'

/** What ran within `durationMs`, as a tree: each run by id, with its tool, how it ended, and what it used. */
export function renderTree({ runs }: RunLog, { stopReason, diagnostic, usage }: TurnResult, totalUsage: Usage, durationMs: number): string {
  const lines = branches<LoggedRun>(runs, ({ info, result }, indent) => `${indent}${describeRun(info)} ${result ? ending(result) : 'not ended'}`)
  return [`main ${ending({ stopReason, diagnostic, totalUsage, usage: { ...usage, durationMs } })}`, ...lines].map(line => `${line}\n`).join('')
}

/** `running, step 2, read_file` */
export function doing(state: string, step: number | undefined, tool: string | undefined): string {
  return [state, step === undefined ? undefined : `step ${step}`, tool].filter(part => part !== undefined).join(', ')
}

/** The lines of a tree below its root. `describe` puts what it says after the branches that lead there. */
export function branches<T extends { readonly children: readonly T[] }>(nodes: readonly T[], describe: (node: T, indent: string) => string, indent = ''): string[] {
  return nodes.flatMap((node, i) => {
    const last = i === nodes.length - 1
    return [describe(node, `${indent}${last ? '└─' : '├─'} `), ...branches(node.children, describe, `${indent}${last ? '   ' : '│  '}`)]
  })
}

interface Ending extends Pick<TurnResult, 'stopReason' | 'usage'> {
  readonly diagnostic?: string | undefined
  readonly totalUsage?: Usage
}

function ending({ stopReason, usage, totalUsage, diagnostic }: Ending): string {
  const reason = diagnostic === undefined ? '' : `: ${oneLine(diagnostic)}`
  const tokens = usageText(usage, totalUsage)
  return `${stopReason}${reason} (${plural(usage.steps, 'step')}, ${plural(usage.toolCalls, 'tool call')}, ${duration(usage.durationMs)}${tokens === undefined ? '' : `, ${tokens}`})`
}

/** `run-1 research "count the packages"`, and `[background subagent-1]` where it is that task. */
export function describeRun({ runId, tool, provider, label }: SubagentRunInfo): string {
  const words = label === undefined ? '' : ` "${oneLine(label)}"`
  const task = tool?.taskId === undefined ? '' : ` [background ${tool.taskId}]`
  return `${runId} ${tool?.name ?? provider}${words}${task}`
}
