import { getEventListeners } from 'node:events'
import { classifyFailure, describeFailure, syncParts } from '@offshoot/model'
import { describe, expect, it, vi } from 'vitest'
import { type Script, ScriptedModel, type ScriptReply, type ScriptRequest } from '../src/index.ts'
import { ask, callsOf, finishOf, follow, request, results, say, textOf } from './support.ts'

/** The answer of a script that never gives one. */
function never(): Promise<never> {
  return new Promise(() => {})
}

describe('a script in code', () => {
  it('is asked with the label, the step, the last message, the prompt and the tools', async () => {
    const asked: ScriptRequest[] = []
    const model = new ScriptedModel((each) => {
      asked.push(each)
      return { reply: 'ok' }
    })
    const prompt = [...say('go'), ...results('one', 'two')]
    await model.doStream({ ...request({ label: 'research', step: 2, prompt }), tools: [{ type: 'function', name: 'look', inputSchema: {} }] })
    expect(asked).toEqual([{ label: 'research', step: 2, last: 'one\ntwo', results: ['one', 'two'], prompt, tools: ['look'] }])
  })

  it('may answer later, and its text is not a template', async () => {
    expect(await textOf(new ScriptedModel(async ({ last }) => ({ reply: `${last} {{last}}` })))).toBe('hello {{last}}')
  })

  it('may leave keys undefined', async () => {
    expect(await callsOf(new ScriptedModel(() => ({ reply: 'x', calls: undefined, fail: undefined }) as unknown as ScriptReply))).toEqual([])
  })

  it('fails the request with what it throws', async () => {
    await expect(ask(new ScriptedModel(() => { throw new RangeError('off the script') }))).rejects.toThrow(new RangeError('off the script'))
  })

  it.each([
    ['nothing', undefined, 'must be a mapping, not nothing'],
    ['an unknown key', { text: 'x' }, 'unknown key "text"'],
    ['a wrong type', { reply: 3 }, 'reply: must be text, not 3'],
  ])('fails the request where it answers %s, in a sentence that says which', async (_what, reply, sentence) => {
    const model = new ScriptedModel(() => reply as ScriptReply, 'script demo.mjs')
    await expect(ask(model, { label: 'research', step: 3 })).rejects.toMatchObject({
      code: 'NO_REPLY', message: expect.stringContaining(`script demo.mjs: reply to label "research", step 3: ${sentence}`) as string,
    })
  })

  it.each([
    ['text', { type: 'text', value: 'a' } as const, 'a'],
    ['an error', { type: 'error-text', value: 'Error: b' } as const, 'Error: b'],
    ['JSON', { type: 'json', value: { c: 1 } } as const, '{"c":1}'],
    ['blocks', { type: 'content', value: [{ type: 'text', text: 'd' }, { type: 'image-data', data: '', mediaType: 'image/png' }] } as const, 'd'],
  ])('reads a tool result of %s as its text', async (_what, output, text) => {
    const model = new ScriptedModel(({ last }) => ({ reply: `<${last}>` }))
    expect(await textOf(model, { prompt: [{ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', toolName: 't', output: output as never }] }] })).toBe(`<${text}>`)
  })
})

describe('a stream', () => {
  it('is a web stream, and offers the same parts without a reader', async () => {
    const { stream } = await (await follow({ reply: 'hi', calls: [{ tool: 'a' }] })).doStream(request())
    expect(stream).toBeInstanceOf(ReadableStream)
    const offered = [...stream[syncParts] ?? []]
    const read = []
    for await (const part of stream) read.push(part)
    expect(read).toEqual(offered)
    expect(read).toHaveLength(5)
  })

  it('reports a token for every four characters', async () => {
    const model = await follow({ reply: '12345678', reasoning: '1234' })
    const prompt = [...say('12345678901'), ...results('1234')]
    // system 15 + user 11 + call {} 2 + result 4 = 32; reply 8 + reasoning 4 = 12
    expect(finishOf(await ask(model, { prompt })).usage).toMatchObject({
      inputTokens: { total: 8, cacheRead: undefined }, outputTokens: { total: 3, reasoning: undefined },
    })
  })
})

describe('a scripted failure', () => {
  it('looks like an endpoint\'s answer, with its status', async () => {
    const error: unknown = await ask(await follow({ fail: { message: 'overloaded', status: 529 } })).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ statusCode: 529, isRetryable: true })
    expect(describeFailure(error)).toBe('the model endpoint model "main" answered 529: overloaded')
  })

  it('looks like an endpoint that cannot be reached, without one', async () => {
    const error: unknown = await ask(await follow({ fail: { message: 'connection refused' } })).catch((reason: unknown) => reason)
    expect(describeFailure(error)).toBe('the model endpoint model "main" cannot be reached: connection refused')
  })

  it.each([
    ['a rate limit that says when it ends', { message: 'slow down', status: 429, retryAfterMs: 500 }, { kind: 'rate-limit', retryAfterMs: 500 }],
    ['a quota that is used up', { message: 'pay first', status: 429, code: 'insufficient_quota' }, { kind: 'quota' }],
    ['a conversation that has become too long', { message: 'no', status: 400, code: 'context_length_exceeded' }, { kind: 'context-overflow' }],
  ])('may be %s', async (_what, fail, kind) => {
    const error: unknown = await ask(await follow({ fail })).catch((reason: unknown) => reason)
    expect(classifyFailure(error)).toEqual(kind)
  })
})

describe('a delay', () => {
  it('comes before the answer, or before the failure', async () => {
    const model = await follow({ when: { step: 1 }, reply: 'x', delayMs: 1 }, { when: { step: 2 }, fail: { message: 'no' }, delayMs: 1 }, { reply: 'x' })
    const order: number[] = []
    const note = (step: number) => (): void => { order.push(step) }
    await Promise.all([1, 2, 3].map(step => ask(model, { step }).then(note(step), note(step))))
    expect(order).toEqual([3, 1, 2])
  })

  it('ends with an abort, which leaves no timer and no listener', async () => {
    const controller = new AbortController()
    const model = await follow({ reply: 'x', delayMs: 3_600_000 })
    const timers = (): number => process.getActiveResourcesInfo().filter(type => type === 'Timeout').length
    const before = timers()
    const pending = ask(model, { signal: controller.signal })
    await Promise.resolve()
    expect(timers()).toBe(before + 1)
    controller.abort(new Error('enough'))
    await expect(pending).rejects.toThrow('enough')
    expect(timers()).toBe(before)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })
})

describe('an abort', () => {
  it('that came before the request means the script is not asked', async () => {
    const script = vi.fn<Script>(() => ({ reply: 'x' }))
    await expect(ask(new ScriptedModel(script), { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
    expect(script).not.toHaveBeenCalled()
  })

  it('ends the waiting for a script that does not answer', async () => {
    const controller = new AbortController()
    const pending = ask(new ScriptedModel(never), { signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(pending).rejects.toThrow('enough')
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  it('leaves no listener behind where there was none', async () => {
    const { signal } = new AbortController()
    await ask(await follow({ reply: 'x', delayMs: 1 }), { signal })
    await ask(new ScriptedModel(async () => ({ reply: 'x' })), { signal })
    await expect(ask(new ScriptedModel(async () => { throw new Error('no') }), { signal })).rejects.toThrow('no')
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
