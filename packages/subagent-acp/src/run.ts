import { onAbort, type StopReason } from '@offshoot/agent'
import { noUsage, type Prompt, type Usage } from '@offshoot/session'
import type { ChildProgress, ProviderRun, SubagentResult } from '@offshoot/subagent'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import type { AcpAgent } from './agent.ts'
import type { Collector } from './collector.ts'
import type { AcpSession } from './handshake.ts'
import type { Permissions } from './permissions.ts'
import { wirePrompt } from './prompt-blocks.ts'
import { cancelBudget } from './teardown.ts'
import { tokensOf } from './usage.ts'

/** What an agent is asked that did its work and ended its turn without an answer. */
const nudge = 'You stopped without writing your answer. Write your complete final answer now, as plain text.'

/** How long words may come late behind an answer that has none. */
const lateMs = 250

export interface AcpRunSetup {
  readonly agent: AcpAgent
  readonly session: AcpSession
  readonly collector: Collector
  readonly permissions: Permissions
  readonly prompt: Prompt
  /** Covers the whole run. */
  readonly signal: AbortSignal
  readonly disposeGraceMs: number
}

/** A child that is an agent outside this process. */
export class AcpRun implements ProviderRun {
  readonly result: Promise<SubagentResult>
  readonly deadlines: { readonly idleMs: number, readonly timeoutMs: number | undefined }
  isSettled = false
  private readonly setup: AcpRunSetup
  private resolve!: (result: SubagentResult) => void
  private beganAt: number | undefined
  private cancelled: { readonly diagnostic: string } | undefined
  private tokens: Partial<Usage> = {}
  private unreported = false
  private unlink: (() => void) | undefined
  private grace: NodeJS.Timeout | undefined
  private gone: Promise<void> | undefined

  constructor(setup: AcpRunSetup) {
    this.setup = setup
    const { timeouts: { idle, total } } = setup.agent.config
    this.deadlines = { idleMs: idle, timeoutMs: total }
    this.result = new Promise(resolve => { this.resolve = resolve })
  }

  get progress(): ChildProgress | undefined {
    const { collector, permissions, agent } = this.setup
    if (this.beganAt === undefined || this.isSettled) return undefined
    const { tool, steps: step, hasAnswered } = collector
    return {
      step, hasAnswered,
      waitsFor: permissions.isAsking ? 'approval' : tool === undefined ? 'model' : 'tools',
      heardAt: Math.max(this.beganAt, agent.heardAt ?? 0),
      usage: this.usage(),
      ...(tool === undefined ? {} : { tool }),
    }
  }

  begin(): void {
    if (this.isSettled) return
    this.beganAt = Date.now()
    this.unlink = onAbort(this.setup.signal, () => { this.cancel(this.setup.signal.reason) })
    if (this.setup.signal.aborted) {
      this.settle('aborted', 'cancelled before the prompt was sent')
      return
    }
    void this.converse()
  }

  dispose(): Promise<void> {
    return this.gone ??= this.close()
  }

  private async close(): Promise<void> {
    const { agent, disposeGraceMs } = this.setup
    const startedAt = performance.now()
    if (this.beganAt === undefined) this.settle('aborted', 'the child was disposed before it began')
    if (!this.isSettled) {
      this.cancel(new Error('the run was disposed'))
      await Promise.race([this.result, delay(cancelBudget(agent.config.timeouts, disposeGraceMs), undefined, { ref: false })])
    }
    await agent.end(Math.max(0, disposeGraceMs - (performance.now() - startedAt)))
    // Nothing answers any more.
    this.settle('aborted', 'the agent was ended')
  }

  /** To the end of its turn, however that comes. */
  private async converse(): Promise<void> {
    const { agent, session, collector, prompt } = this.setup
    try {
      let stopReason = await this.ask(wirePrompt(prompt, session.accepts))
      if (stopReason === 'end_turn' && collector.output.length === 0 && collector.hasAnswered && !collector.hasFailed && !this.cancelled) {
        collector.nextPrompt()
        stopReason = await this.ask(wirePrompt(nudge, session.accepts))
      }
      this.end(stopReason)
    } catch (error) {
      this.settle('error', error instanceof Error ? error.message : `prompt: ${String(error)} (${agent.diagnosis()})`)
    }
  }

  private async ask(prompt: object[]): Promise<unknown> {
    const { agent, session, collector } = this.setup
    const response = await agent.call('prompt', 'session/prompt', { sessionId: session.id, prompt })
    const tokens = tokensOf(response)
    if (tokens) this.tokens = added(this.tokens, tokens)
    else this.unreported = true
    // What was written before the answer is there. Some agents write on after it.
    await setImmediate()
    if (collector.output.length === 0 && !this.cancelled) await delay(lateMs)
    return typeof response === 'object' && response !== null && 'stopReason' in response ? response.stopReason : undefined
  }

  private end(stopReason: unknown): void {
    const { agent, collector, permissions: { lastRefusal } } = this.setup
    const say = (text: string): string => `prompt: ${text} (${agent.diagnosis()})`
    switch (stopReason) {
      case 'end_turn':
        if (collector.hasFailed) this.settle('error', say('the agent says that its turn failed'))
        else if (collector.output.length > 0) this.settle('completed')
        else this.settle('empty-output', say('the agent ended its turn without an answer'))
        break
      case 'max_tokens':
        this.settle('max-tokens', say('the agent was cut by its output token limit'))
        break
      case 'max_turn_requests':
        this.settle('max-steps', say('the agent used all its model requests'))
        break
      case 'refusal':
        this.settle('refusal', say('the agent declined'))
        break
      case 'cancelled':
        this.settle('error', say(lastRefusal === undefined ? 'the agent says that it was cancelled, and nobody here did that' : `the agent ended its turn over what it was refused (${lastRefusal})`))
        break
      default:
        this.settle('error', say(`the agent ended its turn with ${stopReason === undefined ? 'no stop reason' : `the stop reason ${JSON.stringify(stopReason)}, which is not known`}`))
    }
  }

  /** Answer what it asks, tell it once, and wait for the end of its turn, but not for ever. */
  private cancel(reason: unknown): void {
    if (this.cancelled || this.isSettled) return
    const { agent, permissions, session } = this.setup
    const why = reason instanceof Error ? reason.message : String(reason)
    this.cancelled = { diagnostic: `prompt: cancelled: ${why} (${agent.diagnosis()})` }
    permissions.cancel(reason)
    const { cancel: cancelMs } = agent.config.timeouts
    this.grace = setTimeout(() => {
      this.settle('aborted', `the agent did not end its turn within ${cancelMs} ms of the cancel`)
      // Its end is not its owner's to wait for.
      this.dispose().catch(() => {})
    }, cancelMs)
    // Behind the answers to what it had asked; and not after its turn is over, when it would cancel nothing, or the next one.
    void setImmediate().then(() => this.isSettled ? undefined : agent.connection.notify('session/cancel', { sessionId: session.id })).catch(() => {})
  }

  /** The first outcome counts. After a cancel it is `aborted`, whatever the agent made of it. */
  private settle(stopReason: StopReason, diagnostic?: string): void {
    if (this.isSettled) return
    this.isSettled = true
    this.unlink?.()
    clearTimeout(this.grace)
    const { collector, permissions } = this.setup
    permissions.cancel(new Error('the turn is over'))
    const { cancelled } = this
    const isAborted = cancelled !== undefined
    const text = cancelled ? [cancelled.diagnostic, stopReason === 'aborted' ? diagnostic : undefined].filter(part => part !== undefined).join('; ') : diagnostic
    this.resolve({
      stopReason: isAborted ? 'aborted' : stopReason,
      output: stopReason === 'completed' && !isAborted ? collector.output : collector.lastWords,
      ...(text === undefined ? {} : { diagnostic: text }),
      usage: this.usage(),
      ...(collector.model === undefined ? {} : { model: collector.model }),
    })
  }

  private usage(): Usage {
    const { collector: { steps, calls } } = this.setup
    if (this.beganAt === undefined) return { ...noUsage }
    const isKnown = !this.unreported && Object.keys(this.tokens).length > 0
    return { ...this.tokens, ...(isKnown ? {} : { unreportedSteps: steps }), steps, toolCalls: calls.size, durationMs: Date.now() - this.beganAt }
  }
}

function added(a: Partial<Usage>, b: Partial<Usage>): Partial<Usage> {
  const keys = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens'] as const
  return Object.fromEntries(keys.flatMap(key => a[key] === undefined && b[key] === undefined ? [] : [[key, (a[key] ?? 0) + (b[key] ?? 0)]]))
}
