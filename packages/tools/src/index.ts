import { describePlugin, suggest } from '@offshoot/problems'
import { type Context, Service } from 'cordis'
import z from 'schemastery'
import { OutputCap, type OutputLimits } from './cap.ts'
import { ToolError } from './error.ts'
import { SpillStore } from './spill.ts'
import type { Tool, ToolFilter, ToolGate } from './types.ts'
import { ToolView } from './view.ts'

export { capText, minOutputBytes, OutputCap, type OutputLimits } from './cap.ts'
export { defineTool } from './define.ts'
export { ToolError, type ToolErrorCode } from './error.ts'
export { CappedOutput } from './output.ts'
export { Type } from './bundled/typebox.ts'
export { SpillStore, type Spill } from './spill.ts'
export { ToolView, errorResult, parseArguments } from './view.ts'
export type { Tool, ToolConcurrency, ToolDefinition, ToolEffect, ToolExec, ToolFilter, ToolGate, ToolOutput, ToolResult } from './types.ts'

declare module 'cordis' {
  interface Context {
    tools: ToolService
  }
}

/** The plain core behind `ctx.tools`: plugins on a hot path take it once and keep it. */
export class ToolCore {
  readonly tools = new Map<string, Tool>()
  /** Names that a plugin has claimed, with or without a tool behind them yet. */
  readonly claims = new Map<string, Context>()
  /** Long output that was cut, kept for reading back. */
  readonly spills: SpillStore
  /** How much of what tools answer a model reads. */
  readonly output: OutputCap
  /** Judges each call of each agent, own tools included. Whoever sets it takes it away again. */
  gate: ToolGate | undefined
  private unfiltered: ToolView | undefined
  private filtered = new WeakMap<ToolFilter, ToolView>()

  constructor(limits: OutputLimits) {
    this.spills = new SpillStore(limits.maxSpillBytes)
    this.output = new OutputCap(limits, this.spills)
  }

  /** What an agent sees now. The same object until the registry changes, unless the agent has tools of its own. */
  view(filter?: ToolFilter, own?: readonly Tool[]): ToolView {
    if (own?.length) return new ToolView(this.tools.values(), filter, own, this)
    if (!filter) return this.unfiltered ??= new ToolView(this.tools.values(), undefined, [], this)
    let view = this.filtered.get(filter)
    if (!view) this.filtered.set(filter, view = new ToolView(this.tools.values(), filter, [], this))
    return view
  }

  /** Counts changes of the registry: a view stays valid while this does not move. */
  version = 0

  changed(): void {
    this.version++
    this.unfiltered = undefined
    this.filtered = new WeakMap()
  }

  /** The sentence that names what in `filter` nobody has registered or claimed, or `undefined`. */
  unknownNames(filter: ToolFilter): string | undefined {
    const unknown = [...filter.allow ?? [], ...filter.deny ?? []].filter(name => !this.claims.has(name))
    if (unknown.length === 0) return undefined
    return unknown.map(name => `toolFilter names a tool that nobody offers: "${name}"${suggest(name, this.claims.keys(), 'tools')}`).join('; ')
  }
}

/** The app's tools: plugins register them, agents see them through a view. */
export class ToolService extends Service {
  readonly core: ToolCore

  constructor(ctx: Context, config: ToolService.Config) {
    super(ctx, 'tools')
    const core = new ToolCore(config)
    this.core = core
    ctx.effect(() => () => core.spills.dispose(), 'spills')
  }

  /**
   * Offer a tool for as long as the calling plugin lives.
   *
   * @returns the disposer, for withdrawing it sooner.
   * @throws {ToolError} `DUPLICATE_TOOL` if the name is claimed by another plugin.
   */
  register(tool: Tool): () => void {
    const { core, ctx } = this
    const owner = core.claims.get(tool.name)
    if (core.tools.has(tool.name) || owner && !belongsTo(ctx, owner)) throw duplicate(tool.name, owner ?? ctx)
    return ctx.effect(() => {
      if (!owner) core.claims.set(tool.name, ctx)
      core.tools.set(tool.name, tool)
      core.changed()
      return () => {
        if (!owner) core.claims.delete(tool.name)
        core.tools.delete(tool.name)
        core.changed()
      }
    }, `ctx.tools.register(${JSON.stringify(tool.name)})`)
  }

  /**
   * Claim a name for the plugin of `ctx` before its tool exists, for as long as that plugin lives: two plugins
   * that want one name are told apart at load.
   *
   * @throws {ToolError} `DUPLICATE_TOOL`, naming the plugin that has it.
   */
  reserve(name: string, ctx: Context): void {
    const { claims } = this.core
    const owner = claims.get(name)
    if (owner) throw duplicate(name, owner)
    ctx.effect(() => {
      claims.set(name, ctx)
      return () => { claims.delete(name) }
    }, `ctx.tools.reserve(${JSON.stringify(name)})`)
  }

  view(filter?: ToolFilter, own?: readonly Tool[]): ToolView {
    return this.core.view(filter, own)
  }

  /** Names of the registered tools, sorted. */
  list(): string[] {
    return [...this.core.tools.keys()].sort()
  }
}

export namespace ToolService {
  export type Config = OutputLimits

  export const Config: z<Partial<Config>, Config> = z.object({
    maxOutputBytes: z.natural().min(4096).default(100_000).description('Bytes of text of one tool result that a model reads, where the tool has no limit of its own.'),
    maxStepOutputBytes: z.natural().min(4096).default(400_000).description('Bytes of text of all tool results of one step together.'),
    maxSpillBytes: z.natural().default(1024 ** 3).description('Bytes of what was cut that are kept for reading back; the oldest go first.'),
  })
}

/** @throws {ToolError} `EMPTY_FILTER` for a filter with neither key: it says nothing, and hides nothing. */
export function checkFilter(filter: ToolFilter): void {
  if (filter.allow === undefined && filter.deny === undefined) {
    throw new ToolError('EMPTY_FILTER', 'toolFilter needs "allow" or "deny" (allow: [] hides every tool); leave it out for no filter')
  }
}

function duplicate(name: string, owner: Context): ToolError {
  return new ToolError('DUPLICATE_TOOL', `tool name "${name}" is already taken by ${describePlugin(owner)}; give one of the two another name`)
}

/** Whether `ctx` is the plugin of `owner`, or one that it loaded. */
function belongsTo(ctx: Context, owner: Context): boolean {
  for (let fiber = ctx.fiber; ; fiber = fiber.parent.fiber) {
    if (fiber === owner.fiber) return true
    if (fiber === fiber.parent.fiber) return false
  }
}

export default ToolService
