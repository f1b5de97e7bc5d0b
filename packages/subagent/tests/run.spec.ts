import type { StopReason } from '@offshoot/agent'
import { textOf } from '@offshoot/session'
import { describe, expect, it, vi } from 'vitest'
import type { SubagentResult, SubagentRunInfo } from '../src/index.ts'
import { ended, gate, idleRun, provider, settled, startApp, turnOfTheLoop } from './support.ts'

const completed = ended('completed', 'The answer.')

describe('a run', () => {
  it('is announced once its child exists and before the child begins, and handed to the caller after that', async () => {
    const { ctx, events, start } = await startApp()
    ctx.subagents.registerProvider(provider('one', () => {
      events.push('made')
      return idleRun({ begin: () => { events.push('begun') } })
    }))
    const run = await start('one').then(each => { events.push('handed over'); return each })
    expect(events).toEqual(['added one', 'made', 'start run-1', 'begun', 'handed over'])
    expect(run).toMatchObject({ id: 'run-1', provider: 'one' })
    expect(run.agent).toBeUndefined()
  })

  it('has an id of its own', async () => {
    const { ctx, start } = await startApp()
    for (const name of ['one', 'two']) ctx.subagents.registerProvider(provider(name))
    const runs = await Promise.all(['one', 'two', 'one'].map(name => start(name)))
    expect(runs.map(({ id, provider: by }) => [id, by])).toEqual([['run-1', 'one'], ['run-2', 'two'], ['run-3', 'one']])
  })

  it('is told of by who started it, with what, and since when: frozen, the same at start and end', async () => {
    const { ctx, parent, start } = await startApp()
    const infos: SubagentRunInfo[] = []
    ctx.on('subagent/start', info => { infos.push(info) })
    ctx.on('subagent/end', info => { infos.push(info) })
    ctx.subagents.registerProvider(provider('one', () => idleRun({ result: Promise.resolve(completed) })))
    const before = Date.now()
    await (await start('one', { label: 'look around', tool: { name: 'research', callId: 'c1' } })).result
    await (await start('one')).result
    expect(infos[0]).toEqual({ runId: 'run-1', provider: 'one', depth: 1, label: 'look around', tool: { name: 'research', callId: 'c1' }, parentSessionId: parent.session.id, startedAt: expect.any(Number) })
    expect(infos[0]!.startedAt).toBeGreaterThanOrEqual(before)
    expect(infos[1]).toBe(infos[0])
    expect(Object.isFrozen(infos[0])).toBe(true)
    expect(infos[2]).toEqual({ runId: 'run-2', provider: 'one', depth: 1, parentSessionId: parent.session.id, startedAt: expect.any(Number) })
  })

  it('of a child in this process has its agent, and its session in what is told', async () => {
    const { ctx, parent, start } = await startApp()
    const child = ctx.agents.create({ parent })
    const infos: SubagentRunInfo[] = []
    ctx.on('subagent/start', info => { infos.push(info) })
    ctx.subagents.registerProvider(provider('one', () => idleRun({ agent: child })))
    expect((await start('one')).agent).toBe(child)
    expect(infos[0]!.sessionId).toBe(child.session.id)
  })
})

describe('the result', () => {
  it('is the provider\'s, and is told to observers before the caller goes on', async () => {
    const { ctx, events, start } = await startApp()
    ctx.subagents.registerProvider(provider('one', () => idleRun({ result: Promise.resolve(completed) })))
    const result = await (await start('one')).result.then(each => { events.push('caller'); return each })
    expect(result).toEqual(settled(completed))
    expect(events).toEqual(['added one', 'start run-1', 'end run-1 completed', 'caller'])
  })

  it('settles once: what comes later changes nothing and is not told', async () => {
    const { ctx, events, start } = await startApp()
    const late = gate<SubagentResult>()
    ctx.subagents.registerProvider(provider('one', () => idleRun({ result: late.opened, begin: () => { throw new Error('no engine') } })))
    const run = await start('one')
    const result = await run.result
    late.open(completed)
    await run.dispose()
    await turnOfTheLoop()
    expect(await run.result).toEqual(settled(result))
    expect(events.filter(event => event.startsWith('end'))).toEqual(['end run-1 error'])
  })

  const broken: [string, () => Promise<unknown>, string][] = [
    ['rejects', () => Promise.reject(new Error('kaput')), 'the provider\'s result rejected: kaput'],
    ['is nothing', () => Promise.resolve(undefined), 'subagent provider "one" settled with something that is no result'],
    ['has no usage', () => Promise.resolve({ stopReason: 'completed', output: completed.output }), 'subagent provider "one" settled with something that is no result'],
    ['has no output', () => Promise.resolve({ stopReason: 'completed', usage: completed.usage }), 'subagent provider "one" settled with something that is no result'],
    ['has output that is no content', () => Promise.resolve({ ...completed, output: [null] }), 'subagent provider "one" settled with something that is no result'],
    ['has a diagnostic that is no text', () => Promise.resolve({ ...ended('error'), diagnostic: new Error('x') }), 'subagent provider "one" settled with something that is no result'],
  ]
  it.each(broken)('of a provider whose own %s is an error that says so', async (_how, result, diagnostic) => {
    const { ctx, events, start } = await startApp()
    ctx.subagents.registerProvider(provider('one', () => idleRun({ result: result() as Promise<SubagentResult> })))
    const run = await start('one')
    expect(await run.result).toEqual(settled({ stopReason: 'error', output: [], diagnostic, usage: { steps: 0, toolCalls: 0, durationMs: expect.any(Number) } }))
    expect(events.at(-1)).toBe('end run-1 error')
    await run.dispose()
  })

  it('of a child that could not begin is an error that says so; it is still announced, and disposed by its caller', async () => {
    const { ctx, events, start } = await startApp()
    const dispose = vi.fn(async () => {})
    ctx.subagents.registerProvider(provider('one', () => idleRun({ dispose, begin: () => { throw new Error('no engine') } })))
    const run = await start('one')
    expect(await run.result).toMatchObject({ stopReason: 'error', diagnostic: 'the child could not begin: no engine' })
    expect(events).toEqual(['added one', 'start run-1', 'end run-1 error'])
    await run.dispose()
    expect(dispose).toHaveBeenCalledOnce()
  })

  it.each<[string, SubagentResult['output']]>([
    ['nothing', []], ['blank text', [{ type: 'text', text: ' \n' }]], ['reasoning alone', [{ type: 'reasoning', text: 'Hm.' }]],
  ])('that calls %s a success is empty-output', async (_what, output) => {
    const { ctx, start } = await startApp()
    ctx.subagents.registerProvider(provider('one', () => idleRun({ result: Promise.resolve({ ...completed, output }) })))
    expect(await (await start('one')).result).toEqual(settled({ ...completed, output, stopReason: 'empty-output', diagnostic: 'the child ended without output' }))
  })

  it('may be a file alone', async () => {
    const { ctx, start } = await startApp()
    ctx.subagents.registerProvider(provider('one', () => idleRun({ result: Promise.resolve({ ...completed, output: [{ type: 'file', data: 'aGk=', mediaType: 'image/png' }] }) })))
    expect((await (await start('one')).result).stopReason).toBe('completed')
  })

  it('keeps a stop reason that this version does not know', async () => {
    const { ctx, events, start } = await startApp()
    const unknown = 'wandered-off' as StopReason
    ctx.subagents.registerProvider(provider('one', () => idleRun({ result: Promise.resolve(ended(unknown)) })))
    expect((await (await start('one')).result).stopReason).toBe('wandered-off')
    expect(events.at(-1)).toBe('end run-1 wandered-off')
  })
})

describe('a diagnostic', () => {
  async function diagnosticOf(diagnostic: string): Promise<string> {
    const { ctx, start } = await startApp()
    ctx.subagents.registerProvider(provider('one', () => idleRun({ result: Promise.resolve({ ...ended('error', 'partial'), diagnostic }) })))
    const result = await (await start('one')).result
    expect(textOf(result.output)).toBe('partial')
    return result.diagnostic!
  }

  it('is scrubbed', async () => {
    expect(await diagnosticOf('rejected: Bearer abcdefgh.ijkl')).toBe('rejected: Bearer [redacted]')
  })

  it('of 4096 bytes is left as it is', async () => {
    expect(await diagnosticOf('x'.repeat(4096))).toBe('x'.repeat(4096))
  })

  it.each([['one', 'x'], ['two', 'é'], ['three', '語'], ['four', '\u{1F54A}']])('is at most 4096 bytes, cut between characters of %s bytes', async (_bytes, character) => {
    for (const lead of ['', 'a', 'ab', 'abc']) {
      const cut = await diagnosticOf(lead + character.repeat(5000))
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(4096)
      expect(Buffer.byteLength(cut)).toBeGreaterThan(4086)
      expect(cut).toMatch(new RegExp(`^${lead}(?:${character})+…$`, 'u'))
    }
  })
})

it('observers that throw, of any of the four events, are logged and cost nobody anything; later ones are still told', async () => {
  const { ctx, events, logged, start } = await startApp()
  const broken = new Error('observer')
  for (const event of ['subagent/provider-added', 'subagent/provider-removed', 'subagent/start', 'subagent/end'] as const) {
    ctx.on(event, () => { throw broken }, { prepend: true })
    ctx.on(event, async () => { throw broken }, { prepend: true })
  }
  const remove = ctx.subagents.registerProvider(provider('one', () => idleRun({ result: Promise.resolve(completed) })))
  const run = await start('one')
  expect(await run.result).toEqual(settled(completed))
  await run.dispose()
  await remove()
  expect(events).toEqual(['added one', 'start run-1', 'end run-1 completed', 'removed one'])
  await turnOfTheLoop()
  expect(logged).toEqual(Array.from({ length: 8 }, () => broken))
})

it('an observer may end what it is told of: the child of an aborted start settles aborted, one start and one end', async () => {
  const { ctx, events, start } = await startApp()
  const controller = new AbortController()
  ctx.on('subagent/start', () => { controller.abort() })
  const result = gate<SubagentResult>()
  ctx.subagents.registerProvider(provider('one', request => {
    request.signal.addEventListener('abort', () => { result.open(ended('aborted')) })
    return idleRun({ result: result.opened })
  }))
  const run = await start('one', { signal: controller.signal })
  expect((await run.result).stopReason).toBe('aborted')
  expect(events).toEqual(['added one', 'start run-1', 'end run-1 aborted'])
})
