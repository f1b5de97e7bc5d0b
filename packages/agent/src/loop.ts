import { describeFailure, type LanguageModel, type ModelRequest, type ModelStream } from '@offshoot/model'
import type { ContentBlock, Message, Session } from '@offshoot/session'
import { errorResult, type ToolView } from '@offshoot/tools'
import type { Agent } from './agent.ts'
import { resultMessage, runCalls } from './calls.ts'
import { textMessage, userMessage } from './messages.ts'
import { closeUnread, readStream, Reply } from './reply.ts'
import type { AgentListener, StopReason, TurnResult } from './types.ts'
import type { UsageCount } from './usage.ts'

/** Everything a turn works with. The loop below is a function of it; whoever makes one owns its abort. */
export interface Turn {
  readonly agent: Agent
  readonly label: string
  readonly model: LanguageModel
  readonly session: Session
  readonly system: Message
  readonly maxSteps: number
  readonly maxOutputTokens: number | undefined
  readonly maxParallelTools: number
  readonly signal: AbortSignal
  /** What it has cost so far. */
  readonly usage: UsageCount
  /** Absent while nobody listens. */
  readonly emit: AgentListener | undefined
  /** Set while a request is under way: ends the waiting at once, for a model that ignores its signal. */
  interrupt: (() => void) | undefined
  view(): ToolView
  /** Tell the agent what waits for it, in one message at the end of the log. Answers whether there was anything. */
  tellNews(): boolean
  stepStarted(step: number): void
  toolStarted(name: string): void
  toolEnded(name: string): void
}

const nudge = textMessage('You stopped without writing anything. Write your complete final answer now, as plain text.')

/**
 * One turn, from `input` (or, without one, from what waits to be told) to the final answer. It does not reject for
 * anything a model or a tool did.
 */
export async function runTurn(turn: Turn, input: readonly ContentBlock[] | undefined): Promise<TurnResult> {
  const { session, signal, usage } = turn
  let output: readonly ContentBlock[] = []
  let model = turn.model.modelId
  let nudged = false
  const ended = (stopReason: StopReason, diagnostic?: string): TurnResult => ({
    stopReason, output, usage: usage.total(), steps: usage.steps, model, ...(diagnostic === undefined ? {} : { diagnostic }),
  })

  if (input) {
    turn.tellNews()
    session.append(userMessage(input))
  }
  for (;;) {
    if (signal.aborted) return ended('aborted', abortReason(signal))
    if (usage.steps >= turn.maxSteps) return ended('max-steps', `stopped after ${turn.maxSteps} model requests (maxSteps)`)
    turn.tellNews()
    const view = turn.view()
    const reply = await request(turn, view, usage.steps + 1)
    usage.add(reply.finish?.usage)
    model = reply.modelId ?? model

    const distrust = signal.aborted ? 'aborted' : reply.distrust()
    const message = reply.message(distrust !== undefined)
    if (message) session.append(message)
    const text = reply.text()
    if (text.length > 0) output = text
    if (signal.aborted) return ended('aborted', abortReason(signal))
    if (distrust !== undefined) return ended('error', distrust)

    const { calls } = reply
    const reason = reply.finish!.finishReason.unified
    if (reason === 'length' || reason === 'content-filter') {
      // The last call may be cut short, and none of them is wanted any more: answered, never run.
      if (calls.length > 0) session.append(resultMessage(calls, calls.map(() => errorResult('the call was not run: the reply was cut'))))
      return reason === 'length'
        ? ended('max-tokens', 'the output token limit cut the reply')
        : ended('refusal', 'the model or a content filter declined')
    }
    if (calls.length > 0) {
      session.append(resultMessage(calls, await runCalls(turn, view, calls)))
      continue
    }
    if (text.length > 0) {
      // What came while the model wrote its answer is told before the turn ends, while there is a request left for it.
      if (usage.steps < turn.maxSteps && turn.tellNews()) continue
      return ended('completed')
    }
    if (nudged || usage.steps >= turn.maxSteps) return ended('empty-output', 'the model ended without writing an answer')
    nudged = true
    session.append(nudge, 'nudge')
  }
}

/** One model request. Whatever goes wrong is in the reply. */
async function request(turn: Turn, view: ToolView, step: number): Promise<Reply> {
  const { signal } = turn
  turn.stepStarted(step)
  turn.emit?.({ type: 'step-start', step })
  const reply = new Reply()
  try {
    signal.throwIfAborted()
    const { stream } = await interruptible(turn, turn.model.doStream(requestOptions(turn, view, step)))
    await readStream(stream, part => {
      reply.add(part)
      if (part.type === 'text-delta' || part.type === 'reasoning-delta') turn.emit?.({ type: part.type, text: part.delta })
    }, cancel => {
      turn.interrupt = cancel
      if (signal.aborted) cancel()
    })
  } catch (error) {
    reply.failure ??= error ?? new Error('the model failed without saying why')
  } finally {
    turn.interrupt = undefined
  }
  if (signal.aborted) reply.failure ??= signal.reason
  return reply
}

function requestOptions({ label, session, system, maxOutputTokens, signal }: Turn, view: ToolView, step: number): ModelRequest {
  return {
    prompt: session.messages(system),
    // Frozen and shared between requests; the contract's type cannot say so.
    ...(view.specs.length > 0 ? { tools: view.specs as unknown as NonNullable<ModelRequest['tools']> } : {}),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    abortSignal: signal,
    providerOptions: { offshoot: { label, step } },
  }
}

/** Settles with `opening`, or rejects on abort. A stream that opens after that is closed unread. */
function interruptible<T extends { stream: ModelStream }>(turn: Turn, opening: PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    turn.interrupt = () => {
      reject(turn.signal.reason)
      opening.then(({ stream }) => { closeUnread(stream) }, () => {})
    }
    opening.then(resolve, reject)
    if (turn.signal.aborted) turn.interrupt()
  })
}

function abortReason(signal: AbortSignal): string {
  return describeFailure(signal.reason)
}
