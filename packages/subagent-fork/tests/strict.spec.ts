import { messagesOf } from '@offshoot/model-ai-sdk/testing'
import { describe, expect, it } from 'vitest'
import { App, delegate, isChild, judge, lastOf } from './support.ts'

const seeds = ['turns', 'steps'] as const

describe.each(seeds)('a strict endpoint accepts a fork, with seed "%s",', seed => {
  it.each(['exclusive', 'parallel'] as const)('taken while several calls of one message are half answered (%s)', async concurrency => {
    await using app = await App.start({ seed, tool: { concurrency } })
    const parent = app.agent()
    await parent.run('First.')
    app.script(request => {
      if (isChild(request)) return { text: 'Done.' }
      return lastOf(request).role === 'tool' ? { text: 'All heard.' } : {
        text: 'Four at once.',
        calls: [{ name: 'look_up', arguments: {} }, delegate('One.'), { name: 'no_such_tool', arguments: 'not json' }, delegate('Two.'), { name: 'look_again', arguments: {} }],
      }
    })
    expect(await parent.run('Second.')).toMatchObject({ stopReason: 'completed', output: [{ text: 'All heard.' }] })
    expect(app.ended.map(([, { stopReason, diagnostic }]) => [stopReason, diagnostic])).toEqual([['completed', undefined], ['completed', undefined]])
    for (const child of app.children) {
      expect(child.text).not.toContain('Four at once.')
      expect(messagesOf(child)).toHaveLength(seed === 'turns' ? 3 : 4)
    }
  })

  it('taken between two calls of a turn with many steps', async () => {
    await using app = await App.start({ seed })
    let step = 0
    app.script(request => {
      if (isChild(request)) return { text: 'Done.' }
      return step++ < 6 ? { text: `Step ${step}.`, calls: step % 2 ? [{ name: 'look_up', arguments: {} }, { name: 'look_again', arguments: {} }] : [delegate()] } : { text: 'End.' }
    })
    expect((await app.agent().run('First.')).stopReason).toBe('completed')
    expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual(['completed', 'completed', 'completed'])
    expect(app.started.map(({ seed: known }) => known?.steps)).toEqual(seed === 'turns' ? [0, 0, 0] : [1, 3, 5])
  })

  it('taken after a turn that was aborted in the middle of its calls', async () => {
    await using app = await App.start({ seed })
    const parent = app.agent()
    app.script(request => {
      if (isChild(request)) {
        parent.abort()
        return { hold: new Promise(() => {}) }
      }
      return { text: 'On it.', calls: [{ name: 'look_up', arguments: {} }, delegate('Never ends.'), { name: 'look_again', arguments: {} }] }
    })
    expect((await parent.run('First.')).stopReason).toBe('aborted')
    app.script(request => isChild(request) ? { text: 'Done.' } : lastOf(request).role === 'tool' ? { text: 'Fine.' } : { calls: [delegate()] })
    expect((await parent.run('Second.')).stopReason).toBe('completed')
    expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual(['aborted', 'completed'])
    expect(app.started[1]!.seed).toEqual({ turns: 1, steps: 0, moved: [], coldCache: false })
    expect(app.children.at(-1)!.text).toContain('On it.')
  })

  it('taken after a turn that was aborted in the middle of its text, and one that never had an answer', async () => {
    await using app = await App.start({ seed })
    const parent = app.agent()
    app.script(request => lastOf(request).content === 'First.'
      ? { text: ['Half', ' a text'], holdAfter: new Promise(() => {}) }
      : { hold: new Promise(() => {}) })
    const hearing = parent.on(event => { if (event.type === 'text-delta') parent.abort() })
    expect((await parent.run('First.')).stopReason).toBe('aborted')
    hearing()
    expect((await parent.run('Second.', { signal: AbortSignal.abort() })).stopReason).toBe('aborted')
    app.script(request => isChild(request) ? { text: 'Done.' } : lastOf(request).role === 'tool' ? { text: 'Fine.' } : { calls: [delegate()] })
    await parent.run('Third.')
    expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual(['completed'])
    expect(app.started[0]!.seed?.turns).toBe(2)
  })
})

it('the strict endpoint refuses what it is there to refuse', async () => {
  await using app = await App.start()
  await app.agent().run('First.')
  const [request] = app.endpoint.requests
  const verdictOn = (...messages: object[]) => judge({ ...request!, body: { ...request!.body, messages: [request!.body.messages[0]!, ...messages as never[]] } }).verdict
  const user = { role: 'user', content: 'x' }
  const calls = { role: 'assistant', content: null, tool_calls: [{ id: 'a' }, { id: 'b' }] }
  expect(verdictOn(user)).toBeUndefined()
  expect(verdictOn(user, calls, { role: 'tool', tool_call_id: 'a' }, { role: 'tool', tool_call_id: 'b' })).toBeUndefined()
  expect(verdictOn(user, calls, user)).toMatch(/call a must be answered here/)
  expect(verdictOn(user, calls, { role: 'tool', tool_call_id: 'a' }, user)).toMatch(/call b must be answered here/)
  expect(verdictOn({ role: 'tool', tool_call_id: 'a' })).toMatch(/no such message/)
  expect(verdictOn(user, { role: 'assistant', content: 'y' })).toMatch(/must not end with the assistant/)
})
