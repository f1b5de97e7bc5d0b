import type { FileBlock, Message, ToolResultPart } from '@offshoot/session'
import { errorResult, type ToolResult, type ToolView } from '@offshoot/tools'
import type { Turn } from './loop.ts'
import type { Call } from './reply.ts'

type ContentOutput = Extract<ToolResultPart['output'], { type: 'content' }>['value'][number]

/**
 * Execute the calls of one step. Neighbouring `parallel` ones overlap, an `exclusive` one runs alone;
 * the results come in the model's order, cut to what one and all together may have. A call whose turn was aborted
 * before it began is not executed.
 */
export async function runCalls(turn: Turn, view: ToolView, calls: readonly Call[]): Promise<ToolResult[]> {
  const results: ToolResult[] = []
  for (let start = 0; start < calls.length;) {
    let end = start + 1
    if (isParallel(view, calls[start]!)) while (end < calls.length && isParallel(view, calls[end]!)) end++
    if (end - start === 1) results[start] = await runCall(turn, view, calls[start]!)
    else await runLanes(turn, view, calls, results, start, end)
    start = end
  }
  return turn.output.step(results, view)
}

function isParallel(view: ToolView, call: Call): boolean {
  return view.get(call.name)?.concurrency === 'parallel'
}

async function runLanes(turn: Turn, view: ToolView, calls: readonly Call[], results: ToolResult[], start: number, end: number): Promise<void> {
  let next = start
  const lane = async (): Promise<void> => {
    while (next < end) {
      const i = next++
      results[i] = await runCall(turn, view, calls[i]!)
    }
  }
  await Promise.all(Array.from({ length: Math.min(turn.maxParallelTools, end - start) }, lane))
}

async function runCall(turn: Turn, view: ToolView, call: Call): Promise<ToolResult> {
  if (turn.signal.aborted) return errorResult('the call was cancelled before it ran')
  const taking = turn.takeSlot()
  if (taking) {
    try {
      await taking
    } catch {
      return errorResult('the call was cancelled before it ran')
    }
  }
  const { id: callId, name, args } = call
  turn.usage.toolCalls++
  turn.toolStarted(name)
  turn.emit?.({ type: 'tool-start', callId, name, args })
  const result = turn.output.result(await view.execute(name, args, {
    callId,
    agent: turn.agent,
    signal: turn.signal,
    progress: update => { turn.emit?.({ type: 'tool-progress', callId, name, update }) },
  }), name, view)
  turn.toolEnded(name)
  turn.emit?.({ type: 'tool-end', callId, name, result })
  return result
}

/** The message that answers `calls`, in their order. Frozen. */
export function resultMessage(calls: readonly Call[], results: readonly ToolResult[]): Message {
  const content = calls.map((call, i) => Object.freeze<ToolResultPart>({
    type: 'tool-result', toolCallId: call.id, toolName: call.name, output: Object.freeze(output(results[i]!)),
  }))
  return Object.freeze({ role: 'tool' as const, content: Object.freeze(content) as unknown as ToolResultPart[] })
}

function output({ content, isError }: ToolResult): ToolResultPart['output'] {
  if (content.every(block => block.type === 'text')) {
    return { type: isError ? 'error-text' : 'text', value: content.map(block => block.text).join('\n') }
  }
  const value = content.map(block => Object.freeze(block.type === 'file' ? file(block) : { type: 'text' as const, text: block.text }))
  return { type: 'content', value: Object.freeze(value) as typeof value }
}

function file({ data, mediaType, filename }: FileBlock): ContentOutput {
  const image = mediaType.startsWith('image/')
  if (/^https?:/.test(data)) return image ? { type: 'image-url', url: data } : { type: 'file-url', url: data, mediaType }
  if (image) return { type: 'image-data', data, mediaType }
  return { type: 'file-data', data, mediaType, ...(filename === undefined ? {} : { filename }) }
}
