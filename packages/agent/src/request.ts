import type { ModelRequest, ModelStream, ModelStreamPart, RatePass } from '@offshoot/model'
import type { ToolView } from '@offshoot/tools'
import type { Turn } from './loop.ts'
import { closeUnread, readStream, Reply } from './reply.ts'

export interface RequestOptions {
  /** The model sees its tools, so that its cache holds, and may not call them. */
  readonly withoutTools?: boolean
}

/** One model request, made again where a rate limit refused it. Whatever goes wrong is in the reply. */
export async function request(turn: Turn, view: ToolView, step: number, options: RequestOptions = {}): Promise<Reply> {
  const { signal, model, rateLimits } = turn
  turn.stepStarted(step)
  turn.emit?.({ type: 'step-start', step })
  // A turn that is to end has no time to wait.
  const maxWaitMs = turn.cut ? 0 : undefined
  let pass = rateLimits.find(model, maxWaitMs)
  let asked: ModelRequest | undefined
  for (;;) {
    const reply = new Reply()
    try {
      signal.throwIfAborted()
      if (pass) {
        reply.failure = await pass.enter(signal, until => { turn.held(until) })
        if (reply.failure !== undefined) return reply
        turn.asked()
      }
      // What is made again is the same request, byte for byte.
      asked ??= requestOptions(turn, view, step, options)
      await ask(turn, asked, reply, pass)
    } catch (error) {
      reply.failure ??= error ?? new Error('the model failed without saying why')
    }
    if (signal.aborted) reply.failure ??= signal.reason
    const failure = signal.aborted ? undefined : reply.failedBlank()
    if (failure?.kind !== 'rate-limit') {
      pass?.left()
      return reply
    }
    pass ??= rateLimits.meet(model, maxWaitMs)
    const givenUp = pass.refused(reply.failure, failure.retryAfterMs)
    if (givenUp) {
      reply.failure = givenUp
      return reply
    }
  }
}

/** Make the request, and put what it brings into `reply`. */
async function ask(turn: Turn, asked: ModelRequest, reply: Reply, pass: RatePass | undefined): Promise<void> {
  try {
    const { stream } = await interruptible(turn, turn.model.doStream(asked))
    await readStream(stream, part => {
      reply.add(part)
      if (pass && !reply.isBlank) pass.passed()
      if (isProgress(part)) turn.heard()
      if (part.type === 'text-delta' || part.type === 'reasoning-delta') turn.emit?.({ type: part.type, text: part.delta })
    }, cancel => {
      turn.interrupt = cancel
      if (turn.signal.aborted) cancel()
    })
  } finally {
    turn.interrupt = undefined
  }
}

function requestOptions({ label, session, system, maxOutputTokens, signal }: Turn, view: ToolView, step: number, { withoutTools }: RequestOptions): ModelRequest {
  return {
    prompt: session.messages(system),
    // Frozen and shared between requests; the contract's type cannot say so.
    ...(view.specs.length > 0 ? { tools: view.specs as unknown as NonNullable<ModelRequest['tools']> } : {}),
    ...(withoutTools && view.specs.length > 0 ? { toolChoice: { type: 'none' } as const } : {}),
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

/** Whether the model gets on with its reply: a part without content may be no more than a sign of life. */
function isProgress(part: ModelStreamPart): boolean {
  return 'delta' in part ? part.delta !== '' : part.type !== 'raw' && part.type !== 'stream-start' && part.type !== 'response-metadata'
}
