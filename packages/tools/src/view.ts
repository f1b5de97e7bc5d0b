import type { LanguageModelV3FunctionTool } from '@ai-sdk/provider'
import { suggest } from '@offshoot/problems'
import type { ContentBlock } from '@offshoot/session'
import { spillReader } from './cut.ts'
import type { Tool, ToolExec, ToolFilter, ToolGate, ToolOutput, ToolResult } from './types.ts'

/** The tools one agent has at one moment. It answers schema, lookup and execution alike, so a hidden tool is also refused. */
export class ToolView {
  /** What a request carries, by name, whatever the load order: caches survive reloads. Frozen. */
  readonly specs: readonly LanguageModelV3FunctionTool[]
  private readonly byName = new Map<string, Tool>()
  private readonly gates: { readonly gate?: ToolGate | undefined }

  /** @param gates whoever may have a gate when a call comes. */
  constructor(global: Iterable<Tool>, filter?: ToolFilter, own: readonly Tool[] = [], gates: ToolView['gates'] = {}) {
    this.gates = gates
    const visible = [...global].filter(({ name }) => passes(filter, name))
    const tools = [...new Map([...visible, ...own].map(tool => [tool.name, tool])).values()]
    for (const tool of tools.sort((a, b) => a.name < b.name ? -1 : 1)) this.byName.set(tool.name, tool)
    this.specs = Object.freeze([...this.byName.values()].map(tool => tool.spec))
  }

  get(name: string): Tool | undefined {
    return this.byName.get(name)
  }

  /** Whether there is a tool to read back with what is cut from long output. */
  get readsSpills(): boolean {
    return this.byName.has(spillReader)
  }

  /** Names, sorted. */
  names(): string[] {
    return [...this.byName.keys()]
  }

  /** Run a call. It does not reject: whatever goes wrong is the result. `args` of `undefined` were not a JSON object. */
  async execute(name: string, args: Record<string, unknown> | undefined, exec: ToolExec): Promise<ToolResult> {
    const tool = this.byName.get(name)
    if (!tool) return errorResult(`unknown tool "${name}"${suggest(name, this.byName.keys(), 'tools')}`)
    if (args === undefined) return errorResult(`the arguments of "${name}" are not a JSON object; send the call again with valid JSON`)
    try {
      const misfit = tool.check(args)
      if (misfit !== undefined) return errorResult(`invalid arguments for "${name}": ${misfit}`)
      const judged = this.gates.gate?.(tool, args, exec)
      const refusal = judged instanceof Promise ? await judged : judged
      if (refusal !== undefined) return errorResult(refusal)
      if (judged instanceof Promise && exec.signal?.aborted) return errorResult('the call was cancelled before it ran')
      return { content: blocks(await tool.execute(args, exec)), isError: false }
    } catch (error) {
      return errorResult(messageOf(error))
    }
  }
}

function passes(filter: ToolFilter | undefined, name: string): boolean {
  if (!filter) return true
  return (filter.allow === undefined || filter.allow.includes(name)) && !filter.deny?.includes(name)
}

function blocks(output: ToolOutput): readonly ContentBlock[] {
  if (typeof output === 'string') return Object.freeze([Object.freeze({ type: 'text' as const, text: output })])
  return Object.freeze(output.map(block => Object.freeze(block)))
}

/** The result of a call that went wrong: exactly `Error: <message>`. */
export function errorResult(message: string): ToolResult {
  return { content: blocks(`Error: ${message}`), isError: true }
}

function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name
  try {
    return String(error)
  } catch {
    return 'the tool threw a value that has no text'
  }
}

/** The arguments of a call as the model sent them; `undefined` where they are not a JSON object. No text at all means none. */
export function parseArguments(input: string): Record<string, unknown> | undefined {
  if (input.trim() === '') return {}
  try {
    const args: unknown = JSON.parse(input)
    return typeof args === 'object' && args !== null && !Array.isArray(args) ? args as Record<string, unknown> : undefined
  } catch {
    return undefined
  }
}
