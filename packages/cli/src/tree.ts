import type { TurnResult } from '@offshoot/agent'
import type { SubagentRunInfo } from '@offshoot/subagent'
import type { LoggedRun, RunLog } from './run-log.ts'

/** What ran, as a tree: each run by id, with its tool and how it ended. */
export function renderTree({ runs }: RunLog, result: TurnResult): string {
  return `main ${ending(result)}\n${branches(runs, '')}`
}

function branches(runs: readonly LoggedRun[], indent: string): string {
  return runs.map((run, i) => {
    const last = i === runs.length - 1
    const line = `${indent}${last ? '└─' : '├─'} ${describeRun(run.info)} ${run.result ? ending(run.result) : 'not ended'}\n`
    return line + branches(run.children, `${indent}${last ? '   ' : '│  '}`)
  }).join('')
}

function ending({ stopReason, usage, diagnostic }: Pick<TurnResult, 'stopReason' | 'usage' | 'diagnostic'>): string {
  const reason = diagnostic === undefined ? '' : `: ${oneLine(diagnostic)}`
  const tokens = usage.inputTokens === undefined && usage.outputTokens === undefined ? ''
    : `, ${usage.inputTokens ?? '?'} in + ${usage.outputTokens ?? '?'} out tokens`
  return `${stopReason}${reason} (${plural(usage.steps, 'step')}, ${plural(usage.toolCalls, 'tool call')}, ${duration(usage.durationMs)}${tokens})`
}

/** `run-1 research "count the packages"` */
export function describeRun({ runId, tool, provider, label }: SubagentRunInfo): string {
  return `${runId} ${tool?.name ?? provider}${label === undefined ? '' : ` "${oneLine(label)}"`}`
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

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
