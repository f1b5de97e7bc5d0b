import { describeFailure, type LanguageModel, type RateLimits } from '@offshoot/model'
import type { ContentBlock, Message, Session } from '@offshoot/session'
import { errorResult, type OutputCap, type ToolView } from '@offshoot/tools'
import type { Agent } from './agent.ts'
import { Answer } from './answer.ts'
import { resultMessage, runCalls } from './calls.ts'
import { textMessage, userMessage } from './messages.ts'
import { Repeats } from './repeats.ts'
import type { Reply } from './reply.ts'
import { request } from './request.ts'
import type { AgentListener, AnswerTool, StopReason, TurnCut, TurnResult } from './types.ts'
import type { UsageCount } from './usage.ts'

/** Everything a turn works with. The loop below is a function of it; whoever makes one owns its abort. */
export interface Turn {
  readonly agent: Agent
  readonly label: string
  readonly model: LanguageModel
  readonly session: Session
  readonly system: Message
  /** The tool that it has to end with, if it has to. */
  readonly answer: AnswerTool | undefined
  readonly maxSteps: number
  readonly maxOutputTokens: number | undefined
  readonly maxParallelTools: number
  /** How much of what its tools answer the model reads. */
  readonly output: OutputCap
  /** How many identical steps in a row are too many. */
  readonly maxRepeats: number
  readonly rateLimits: RateLimits
  /** Of the work under way; another one after a cut. */
  readonly signal: AbortSignal
  /** Why it was aborted, if it was. */
  readonly aborted: { readonly reason: unknown } | undefined
  /** Why it is to end early, if it is. */
  readonly cut: TurnCut | undefined
  /** What it has cost so far. */
  readonly usage: UsageCount
  /** Absent while nobody listens. */
  readonly emit: AgentListener | undefined
  /** Set while a request is under way: ends the waiting at once, for a model that ignores its signal. */
  interrupt: (() => void) | undefined
  view(): ToolView
  /** Tell the agent what waits for it, in one message at the end of the log. Answers whether there was anything. */
  tellNews(): boolean
  /** What lets it work, where that is not there: see `AgentSlot`. */
  takeSlot(): Promise<void> | undefined
  /** Why it may not make another request, if it may not. */
  refusal(): TurnCut | undefined
  /** What is left of it runs under a signal of its own. */
  beginWrapUp(): void
  stepStarted(step: number): void
  /** The model is asked, again if it was before. */
  asked(): void
  /** The model said something. */
  heard(): void
  /** A rate limit holds the request until then at the earliest, in milliseconds since the epoch. */
  held(until: number): void
  toolStarted(name: string): void
  toolEnded(name: string): void
}

const nudge = textMessage('You stopped without writing anything. Write your complete final answer now, as plain text.')

const wrapUpMessage = textMessage('You have to stop here, and can use no more tools. Write down now, as plain text, what you have done and found so far, and what is still missing.')

/**
 * One turn, from `input` (or, without one, from what waits to be told) to the final answer. It does not reject for
 * anything a model or a tool did. A turn that is cut ends with one request without tools, to write down what there is.
 */
export async function runTurn(turn: Turn, input: readonly ContentBlock[] | undefined): Promise<TurnResult> {
  const { session, usage } = turn
  const repeats = new Repeats(turn.maxRepeats)
  const answer = turn.answer && new Answer(turn.answer)
  let output: readonly ContentBlock[] = []
  let model = turn.model.modelId
  let nudged = false
  const ended = (stopReason: StopReason, diagnostic?: string): TurnResult => ({
    stopReason, output, usage: usage.total(), steps: usage.steps, model, ...(diagnostic === undefined ? {} : { diagnostic }),
  })
  /** Log what a request brought. Answers why it cannot count as a reply that ended by itself, if it cannot. */
  const take = (reply: Reply): TurnCut | undefined => {
    usage.add(reply.finish?.usage)
    model = reply.modelId ?? model
    const failure = reply.failed()
    const message = reply.message(turn.signal.aborted || failure !== undefined)
    if (message) session.append(message)
    const text = reply.text()
    if (text.length > 0) output = text
    return failure
  }
  const notRun = ({ calls }: Reply, why: string): void => {
    if (calls.length > 0) session.append(resultMessage(calls, calls.map(() => errorResult(`the call was not run: ${why}`))))
  }
  const wrapUp = async (cut: TurnCut): Promise<TurnResult> => {
    if (usage.steps > 0) {
      turn.beginWrapUp()
      turn.tellNews()
      session.append(wrapUpMessage, 'nudge')
      const reply = await request(turn, turn.view(), usage.steps + 1, { withoutTools: true })
      if (!take(reply) && !turn.signal.aborted) notRun(reply, 'the turn is over')
    }
    return turn.aborted ? stopped() : ended(cut.stopReason, cut.diagnostic)
  }
  const stopped = (): TurnResult | Promise<TurnResult> =>
    turn.cut && !turn.aborted ? wrapUp(turn.cut) : ended('aborted', describeFailure(turn.aborted?.reason))

  if (input) {
    turn.tellNews()
    session.append(userMessage(input))
  }
  for (;;) {
    if (turn.signal.aborted) return stopped()
    if (usage.steps >= turn.maxSteps) return wrapUp({ stopReason: 'max-steps', diagnostic: `stopped after ${turn.maxSteps} model requests (maxSteps)` })
    const taking = turn.takeSlot()
    if (taking) {
      try {
        await taking
      } catch {
        return stopped()
      }
    }
    const refusal = turn.refusal()
    if (refusal) return wrapUp(refusal)
    turn.tellNews()
    const view = turn.view()
    const reply = await request(turn, view, usage.steps + 1)
    const failure = take(reply)
    if (turn.signal.aborted) return stopped()
    if (failure) return ended(failure.stopReason, failure.diagnostic)

    const { calls } = reply
    const reason = reply.finish!.finishReason.unified
    if (reason === 'length' || reason === 'content-filter') {
      // The last call may be cut short, and none of them is wanted any more: answered, never run.
      notRun(reply, 'the reply was cut')
      return reason === 'length'
        ? ended('max-tokens', 'the output token limit cut the reply')
        : ended('refusal', 'the model or a content filter declined')
    }
    if (calls.length > 0) {
      const results = await runCalls(turn, view, calls)
      session.append(resultMessage(calls, results))
      if (answer && !turn.signal.aborted) {
        const handed = answer.take(calls, results)
        output = handed?.output ?? output
        if (handed?.fits) return { ...ended('completed'), structured: handed.args }
        if (answer.isSpent) return ended('invalid-output', answer.diagnostic)
      }
      if (repeats.add(calls, results) && !turn.signal.aborted) {
        return wrapUp({ stopReason: 'loop', diagnostic: `the same calls (${calls.map(({ name }) => name).join(', ')}) brought the same results ${turn.maxRepeats} times in a row (maxRepeats)` })
      }
      continue
    }
    const hasText = reply.text().length > 0
    const isLast = usage.steps >= turn.maxSteps
    // What came while the model wrote its answer is told before the turn ends, while there is a request left for it.
    if (hasText && !isLast && turn.tellNews()) continue
    if (answer) {
      const reminder = isLast ? undefined : answer.reminder()
      if (!reminder) return ended('invalid-output', answer.diagnostic)
      session.append(reminder, 'nudge')
      continue
    }
    if (hasText) return ended('completed')
    if (nudged || isLast) return ended('empty-output', 'the model ended without writing an answer')
    nudged = true
    session.append(nudge, 'nudge')
  }
}
