import type { Usage } from '@offshoot/session'
import stringWidth from 'string-width'
import { cutToWidth } from './display-width.ts'
import { liveUsage, narrowUsage } from './usage-text.ts'
import { oneLine } from './wording.ts'

/** An agent that lives, or a start that waits. */
export interface LiveNode {
  /** `main`, or a run's id. */
  readonly id: string
  /** The tool that made it, or the provider. */
  readonly tool?: string | undefined
  readonly label?: string | undefined
  readonly taskId?: string | undefined
  /** What it does, or why it waits. */
  readonly doing: string
  readonly isQueued: boolean
  readonly step?: number | undefined
  readonly elapsedMs?: number | undefined
  readonly usage?: Usage | undefined
  readonly totalUsage?: Usage | undefined
  readonly children: readonly LiveNode[]
}

/** Below this, lines say the same in fewer words. */
const wideColumns = 72
/** A label with less room says too little to do without the tool's name, or says nothing at all. */
const goodLabel = 12
const leastLabel = 4

/** What a node is and does, after `indent` and in `columns` columns with it. The label gives way first, then the line's end. */
export function liveLine(node: LiveNode, columns: number, indent = ''): string {
  const isWide = columns >= wideColumns
  const label = node.label === undefined ? '' : oneLine(node.label)
  const task = node.taskId === undefined ? '' : ` [background ${node.taskId}]`
  const status = isWide ? wideStatus(node) : narrowStatus(node)
  const withTool = isWide && node.tool !== undefined ? `${node.id} ${node.tool}` : node.id
  const line = `${indent}${withTool}${label === '' ? '' : ` "${label}"`}${task} ${status}`
  if (stringWidth(line) <= columns) return line
  const labelRoom = (who: string) => columns - stringWidth(`${indent}${who} "" ${status}`)
  const who = labelRoom(withTool) >= Math.min(goodLabel, stringWidth(label)) ? withTool : node.id
  const cut = label === '' || labelRoom(who) < leastLabel ? '' : ` "${cutToWidth(label, labelRoom(who))}"`
  return cutToWidth(`${indent}${who}${cut} ${status}`, columns)
}

/** `12 s`, `3 min 5 s`, `2 h 10 min` */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const minutes = Math.floor(seconds / 60)
  if (minutes === 0) return `${seconds} s`
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

function wideStatus({ doing, step, elapsedMs, usage, totalUsage }: LiveNode): string {
  return joined(', ', doing, step === undefined ? undefined : `step ${step}`, elapsedMs === undefined ? undefined : elapsed(elapsedMs),
    usage && liveUsage(usage, totalUsage))
}

function narrowStatus({ doing, step, elapsedMs, usage, totalUsage }: LiveNode): string {
  const time = elapsedMs === undefined ? undefined : elapsed(elapsedMs).replaceAll(' min', 'm').replaceAll(/ (?=[sh])/g, '').replaceAll(' ', '')
  return joined(' ', doing, step === undefined ? undefined : `#${step}`, time, usage && narrowUsage(totalUsage ?? usage))
}

function joined(separator: string, ...parts: (string | undefined)[]): string {
  return parts.filter(part => part !== undefined).join(separator)
}
