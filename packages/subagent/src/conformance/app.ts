import AgentService, { type Agent } from '@offshoot/agent'
import ModelService from '@offshoot/model'
import SessionService from '@offshoot/session'
import ToolService from '@offshoot/tools'
import { Context } from 'cordis'
import assert from 'node:assert/strict'
import SubagentService, {
  type ProviderRun, type ProviderStartRequest, type SubagentProvider, type SubagentResult, type SubagentRun, type SubagentRunInfo, type SubagentStartRequest,
} from '../index.ts'
import { type ChildControl, ModelControl } from './children.ts'

/** What the suite needs to know of a provider. */
export interface ProviderHarness {
  /** The provider's name once mounted. */
  readonly provider: string
  /** Load the plugin that registers it, as an app would, and wait until it has. */
  mount(ctx: Context): Promise<unknown>
  /** For children outside this process. */
  readonly children?: ChildControl
  /** What of a request makes the provider reject its start; default: a model that nobody registered. */
  readonly failingStart?: Partial<SubagentStartRequest>
  /** How long the suite waits before it says that something never came, in ms; default 2000. */
  readonly patienceMs?: number
  /** What is left of children outside this process, in words; empty when nothing is. */
  leftovers?(): string[] | Promise<string[]>
}

export type RecordedEvent =
  | { readonly type: 'start', readonly info: SubagentRunInfo, readonly modelRequests: number }
  | { readonly type: 'end', readonly info: SubagentRunInfo, readonly result: SubagentResult }

/** How long the suite waits for what a correct provider does at once, unless told otherwise. */
const defaultPatienceMs = 2000

/** A real app with the provider under test, a parent agent, and a record of what happened. */
export class ConformanceApp implements AsyncDisposable {
  readonly ctx: Context
  readonly harness: ProviderHarness
  readonly parent: Agent
  readonly model: ModelControl
  readonly events: RecordedEvent[] = []
  private readonly agentsAtRest: number

  private constructor(ctx: Context, harness: ProviderHarness, model: ModelControl) {
    this.ctx = ctx
    this.harness = harness
    this.model = model
    this.parent = ctx.agents.create({ label: 'parent' })
    this.agentsAtRest = ctx.agents.list().length
    ctx.on('subagent/start', info => { this.events.push({ type: 'start', info, modelRequests: model.fake.requests.length }) })
    ctx.on('subagent/end', (info, result) => { this.events.push({ type: 'end', info, result }) })
  }

  static async create(harness: ProviderHarness): Promise<ConformanceApp> {
    const ctx = new Context()
    const model = new ModelControl()
    for (const service of [SessionService, ModelService, ToolService]) await ctx.plugin(service)
    await ctx.plugin(AgentService, {})
    await ctx.plugin(SubagentService, { maxDepth: 3, disposeGraceMs: harness.patienceMs ?? defaultPatienceMs })
    ctx.models.register('main', model.model)
    const app = new ConformanceApp(ctx, harness, model)
    try {
      await app.within(harness.mount(ctx), 'the provider\'s plugin to load')
      assert.ok(ctx.subagents.getProvider(harness.provider), `mount() registered no provider "${harness.provider}"`)
      // Children elsewhere may still know what the suite wanted last.
      await app.children.behave({ kind: 'echo' })
    } catch (error) {
      await ctx.fiber.dispose()
      throw error
    }
    return app
  }

  private get patienceMs(): number {
    return this.harness.patienceMs ?? defaultPatienceMs
  }

  get children(): ChildControl {
    return this.harness.children ?? this.model
  }

  get provider(): SubagentProvider {
    const provider = this.ctx.subagents.getProvider(this.harness.provider)
    assert.ok(provider, `provider "${this.harness.provider}" is not registered`)
    return provider
  }

  request(overrides: Partial<SubagentStartRequest> = {}): SubagentStartRequest {
    return { prompt: 'Say hello.', parent: this.parent, signal: new AbortController().signal, ...overrides }
  }

  /** Start a child through `ctx.subagents`. */
  start(overrides?: Partial<SubagentStartRequest>): Promise<SubagentRun> {
    return this.within(this.ctx.subagents.start(this.harness.provider, this.request(overrides)), 'start() to settle')
  }

  /** Start a child on the provider itself, past the service that would cover for it. */
  async startRaw(overrides?: Partial<SubagentStartRequest>): Promise<ProviderRun> {
    const request = this.request(overrides)
    const raw: ProviderStartRequest = { ...request, callerSignal: request.signal, runId: 'run-raw', depth: 1, maxDepth: 3, disposeGraceMs: this.patienceMs }
    return this.within(this.provider.start(raw), 'the provider\'s start() to settle')
  }

  async resultOf(run: Pick<SubagentRun, 'result'>): Promise<SubagentResult> {
    return this.within(run.result, 'the result to settle')
  }

  /** A whole child, from start to disposal. */
  async runToEnd(overrides?: Partial<SubagentStartRequest>): Promise<SubagentResult> {
    const run = await this.start(overrides)
    const result = await this.resultOf(run)
    await this.within(run.dispose(), 'dispose() to settle')
    return result
  }

  eventsOf(runId: string): RecordedEvent[] {
    return this.events.filter(({ info }) => info.runId === runId)
  }

  /** Nothing of any child is left: no agent, no live run, nothing outside the process. */
  async assertNothingLeft(): Promise<void> {
    const agents = this.ctx.agents.list()
    assert.equal(agents.length, this.agentsAtRest, `left behind: ${agents.slice(this.agentsAtRest).map(agent => `agent ${agent.id}`).join(', ')}`)
    assert.deepEqual(this.ctx.subagents.tree(), [], 'a run is still live')
    const outside = await this.harness.leftovers?.() ?? []
    assert.deepEqual(outside, [], 'something outside this process is left behind')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.within(this.ctx.fiber.dispose(), 'the app to be disposed')
  }

  /** Settles as `work` does, or rejects, naming what never came. */
  async within<T>(work: PromiseLike<T>, what: string): Promise<T> {
    const { patienceMs } = this
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => { reject(new Error(`waited ${patienceMs} ms for ${what}`)) }, patienceMs)
    })
    try {
      return await Promise.race([work, late])
    } finally {
      clearTimeout(timer)
    }
  }
}
