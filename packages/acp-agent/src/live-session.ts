import { type AgentContext, type ContentBlock as WireBlock, RequestError, type SessionUpdate } from '@agentclientprotocol/sdk'
// Types alone: nothing else that is unstable is loaded, or spoken.
import type { PromptResponse } from '@agentclientprotocol/sdk/unstable'
import type { Agent, AgentOptions } from '@offshoot/agent'
import { titleOf, type Usage } from '@offshoot/session'
import type { Context } from 'cordis'
import { setTimeout as delay } from 'node:timers/promises'
import { ChildUpdates } from './child-updates.ts'
import { promptOf } from './content.ts'
import { adjustmentOf, defaultMode, modeIds } from './modes.ts'
import { ClientPermissions } from './permissions.ts'
import { wireReason } from './stop-reason.ts'
import { AgentUpdates } from './updates.ts'

/** Clients on older SDKs take updates and answers by different ways: an answer right behind the last update overtakes it, and that is never shown. */
const settleMs = 5

/** One conversation of a client with the app's agent. */
export class LiveSession {
  agent: Agent
  mode = defaultMode
  private readonly ctx: Context
  private readonly client: AgentContext
  private readonly options: Pick<AgentOptions, 'cwd' | 'lineage'>
  private parts: { close(): void }[] = []
  private sending: Promise<unknown> = Promise.resolve()
  private turn: AbortController | undefined
  private endMode: (() => void) | undefined
  private touchedAt = Date.now()
  private toldTitle: string | undefined

  constructor(ctx: Context, client: AgentContext, agent: Agent, options: Pick<AgentOptions, 'cwd' | 'lineage'>) {
    this.ctx = ctx
    this.client = client
    this.agent = agent
    this.options = options
    this.toldTitle = this.title
    this.attach()
  }

  get id(): string {
    return this.agent.session.id
  }

  /** The first words of the conversation. */
  get title(): string | undefined {
    return titleOf(this.agent.session.entries())
  }

  /** When it was used last, in milliseconds since the epoch. */
  get updatedAt(): number {
    return this.touchedAt
  }

  /** One turn, and those that background work brings. Everything it says has been sent when this settles. */
  async prompt(blocks: readonly WireBlock[], signal: AbortSignal): Promise<PromptResponse> {
    if (this.turn || this.agent.isBusy) throw RequestError.invalidRequest(undefined, 'a prompt of this session is still at work; cancel it, or wait for its answer')
    const prompt = asInvalid(() => promptOf(blocks, this.ctx.models.get(this.agent.modelName)))
    if (!prompt.some(block => block.type === 'file' || block.type === 'text' && block.text.trim() !== '')) throw RequestError.invalidParams(undefined, 'the prompt is empty')
    const turn = this.turn = new AbortController()
    const both = AbortSignal.any([turn.signal, signal])
    try {
      this.touchedAt = Date.now()
      const running = this.agent.runToQuiet(prompt, { signal: both })
      this.tellTitle()
      const result = await running
      await this.sent()
      // A cancel decides, whatever came of the turn.
      if (both.aborted) return { stopReason: 'cancelled' }
      const stopReason = wireReason(result)
      if (stopReason === undefined) throw RequestError.internalError({ stopReason: result.stopReason, details: result.diagnostic }, `${result.stopReason}: ${result.diagnostic ?? 'no more is known'}`)
      return { stopReason, ...usageOf(result.usage) }
    } finally {
      this.turn = undefined
      this.touchedAt = Date.now()
    }
  }

  /** End the turn under way, with everything below it. Nothing where none is. */
  cancel(): void {
    if (!this.turn) return
    this.turn.abort(new Error('the client cancelled'))
    this.agent.abort(new Error('the client cancelled'), { scope: 'tree' })
  }

  /** Go on with another model. The conversation stays. */
  async useModel(model: string): Promise<void> {
    if (this.turn || this.agent.isBusy) throw RequestError.invalidRequest(undefined, 'the model cannot be changed while a prompt is at work')
    const { session, label } = this.agent
    const next = asInvalid(() => this.ctx.agents.create({ ...this.options, session, label, model }))
    await this.detach()
    this.agent = next
    this.attach()
  }

  /** Ask people more, or less, from now on: also for what runs. */
  useMode(mode: string): void {
    if (!modeIds.includes(mode)) throw RequestError.invalidParams(undefined, `there is no mode "${mode}" (modes: ${modeIds.join(', ')})`)
    const adjustment = adjustmentOf(mode)
    const approvals = this.ctx.get('approvals')?.core
    if (adjustment && !approvals) throw RequestError.invalidParams(undefined, `the mode "${mode}" cannot be kept to: the app loads no approvals`)
    this.mode = mode
    this.endMode?.()
    this.endMode = adjustment && approvals?.adjust(this.agent, adjustment)
  }

  /** Send an update behind those before it. */
  readonly send = (update: SessionUpdate): void => {
    this.sending = this.sending.then(() => this.client.notify('session/update', { sessionId: this.id, update })).catch(() => {})
  }

  /** Settles once a client can be answered: it has everything that was sent so far. */
  async sent(): Promise<void> {
    await this.sending
    await delay(settleMs)
  }

  async close(): Promise<void> {
    this.cancel()
    await this.detach()
  }

  private tellTitle(): void {
    const { title } = this
    if (title === undefined || title === this.toldTitle) return
    this.toldTitle = title
    this.send({ sessionUpdate: 'session_info_update', title, updatedAt: new Date(this.touchedAt).toISOString() })
  }

  private attach(): void {
    const { agent, ctx } = this
    const updates = new AgentUpdates(agent, this.send)
    const unhear = agent.on(event => { updates.heard(event) })
    const approvals = ctx.get('approvals')?.core
    this.parts = [
      { close: unhear },
      new ChildUpdates(ctx, agent, this.send),
      ...approvals ? [new ClientPermissions(approvals, agent, this.client, this.id)] : [],
    ]
    this.useMode(this.mode)
  }

  private async detach(): Promise<void> {
    await this.agent.dispose()
    this.endMode?.()
    for (const part of this.parts) part.close()
  }
}

/** `act`, whose failure is the request's. */
function asInvalid<T>(act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw RequestError.invalidParams(undefined, error instanceof Error ? error.message : String(error))
  }
}

/** Figures that nobody reported are no figures: then there is no usage. */
function usageOf({ inputTokens, outputTokens, cachedInputTokens, reasoningTokens }: Usage): Pick<PromptResponse, 'usage'> {
  if (inputTokens === undefined || outputTokens === undefined) return {}
  return { usage: {
    inputTokens, outputTokens, totalTokens: inputTokens + outputTokens,
    ...(cachedInputTokens === undefined ? {} : { cachedReadTokens: cachedInputTokens }),
    ...(reasoningTokens === undefined ? {} : { thoughtTokens: reasoningTokens }),
  } }
}
