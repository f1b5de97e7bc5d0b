import { describe, expect, it, vi } from 'vitest'
import {
  missingCapability, type ProviderStartRequest, SubagentError, type SubagentErrorCode, type SubagentRunInfo, type SubagentSeed, type SubagentStartRequest,
} from '../src/index.ts'
import { able, ended, gate, idleRun, provider, startApp, unable } from './support.ts'

const refusal = (code: SubagentErrorCode, message: string | RegExp) => expect.objectContaining({
  name: 'SubagentError', code, message: typeof message === 'string' ? message : expect.stringMatching(message) as unknown,
})

describe('a start is refused, before the provider is called and with no event,', () => {
  it('where no provider has the name: the registered ones are listed, and the nearest named', async () => {
    const { ctx, start } = await startApp()
    await expect(start('spwan')).rejects.toEqual(refusal('NO_PROVIDER', 'no subagent provider "spwan" (registered: none)'))
    for (const name of ['spawn', 'acp']) ctx.subagents.registerProvider(provider(name))
    await expect(start('spwan')).rejects.toEqual(refusal('NO_PROVIDER', 'no subagent provider "spwan"; did you mean "spawn"? (registered: acp, spawn)'))
  })

  const invalid: [string, Record<string, unknown>, RegExp][] = [
    ['no parent', { parent: undefined }, /"parent"/],
    ['a parent that is no agent', { parent: {} }, /"parent"/],
    ['no signal', { signal: undefined }, /"signal".*new AbortController\(\)\.signal/],
    ['a controller for a signal', { signal: new AbortController() }, /"signal"/],
    ['no prompt', { prompt: undefined }, /"prompt"/],
    ['a blank prompt', { prompt: ' \n' }, /"prompt"/],
    ['no blocks', { prompt: [] }, /"prompt"/],
    ['blank blocks', { prompt: [{ type: 'text', text: ' ' }] }, /"prompt"/],
    ['a filter with neither key', { toolFilter: {} }, /toolFilter needs "allow" or "deny"/],
    ['a depth below 0', { maxDepth: -1 }, /maxDepth must be a whole number from 0, not -1/],
    ['half a depth', { maxDepth: 1.5 }, /maxDepth/],
    ['a depth that is no number', { maxDepth: Number.NaN }, /maxDepth/],
    ['a schema of no object', { outputSchema: { type: 'array' } }, /outputSchema must describe an object/],
    ['a relative working directory', { cwd: 'src' }, /cwd must be an absolute path, not "src"/],
    ['a step limit of 0', { agentOptions: { maxSteps: 0 } }, /agentOptions\.maxSteps must be a whole number from 1, not 0/],
    ['an output limit of 0', { agentOptions: { maxOutputTokens: 0 } }, /agentOptions\.maxOutputTokens/],
  ]
  it.each(invalid)('for %s', async (_what, overrides, message) => {
    const { ctx, start, events } = await startApp()
    const called = vi.fn(() => idleRun())
    ctx.subagents.registerProvider(provider('one', called))
    await expect(start('one', overrides as Partial<SubagentStartRequest>)).rejects.toEqual(refusal('INVALID_REQUEST', message))
    expect(called).not.toHaveBeenCalled()
    expect(events).toEqual(['added one'])
  })

  it('for a parent that is disposed', async () => {
    const { ctx, parent, start } = await startApp()
    ctx.subagents.registerProvider(provider('one'))
    await parent.dispose()
    await expect(start('one')).rejects.toEqual(refusal('INVALID_REQUEST', `the parent agent ${parent.id} is disposed and can have no child`))
  })

  it.each<[string, Partial<SubagentStartRequest>, string]>([
    ['persona', { persona: 'You are terse.' }, 'persona'],
    ['toolFilter', { toolFilter: { allow: [] } }, 'toolFilter'],
    ['maxDepth', { maxDepth: 2 }, 'depthLimit'],
    ['outputSchema', { outputSchema: { type: 'object' } }, 'outputSchema'],
  ])('for a %s that the provider cannot honour', async (field, overrides, capability) => {
    const { ctx, start, events } = await startApp()
    const called = vi.fn(() => idleRun())
    ctx.subagents.registerProvider(provider('plain', called, unable))
    ctx.subagents.registerProvider(provider('other', called, { ...able, [capability]: false }))
    await expect(start('plain', overrides)).rejects.toEqual(refusal('UNSUPPORTED_CAPABILITY', `subagent provider "plain" does not support ${field} (capability ${capability}; it has: none); leave ${field} out or use another provider`))
    await expect(start('other', overrides)).rejects.toEqual(refusal('UNSUPPORTED_CAPABILITY', /it has: \w+, \w+, \w+\)/))
    expect(called).not.toHaveBeenCalled()
    expect(events).toEqual(['added plain', 'added other'])
  })

  it('beyond the depth limit: the app\'s, or a stricter one of the request', async () => {
    const { ctx, parent, start } = await startApp({ maxDepth: 2 })
    const called = vi.fn((_request: ProviderStartRequest) => idleRun())
    ctx.subagents.registerProvider(provider('one', called))
    const child = ctx.agents.create({ parent })
    const grandchild = ctx.agents.create({ parent: child })
    await expect(start('one', { parent: grandchild })).rejects.toEqual(refusal('DEPTH_LIMIT', 'a child would be at delegation depth 3, and the limit is 2 (maxDepth); do the task yourself'))
    await expect(start('one', { parent: grandchild, maxDepth: 9 })).rejects.toEqual(refusal('DEPTH_LIMIT', /limit is 2/))
    await expect(start('one', { parent: child, maxDepth: 1 })).rejects.toEqual(refusal('DEPTH_LIMIT', /depth 2, and the limit is 1/))
    await expect(start('one', { maxDepth: 0 })).rejects.toEqual(refusal('DEPTH_LIMIT', 'delegation is switched off here (maxDepth 0); do the task yourself'))
    expect(called).not.toHaveBeenCalled()
    await start('one', { parent: child, maxDepth: 9 })
    expect(called.mock.calls[0]![0]).toMatchObject({ depth: 2, maxDepth: 2 })
  })

  it('where the caller\'s signal has aborted already', async () => {
    const { ctx, start } = await startApp()
    const called = vi.fn(() => idleRun())
    ctx.subagents.registerProvider(provider('one', called))
    const reason = new Error('the person left')
    const error = await start('one', { signal: AbortSignal.abort(reason) }).catch((thrown: unknown) => thrown)
    expect(error).toEqual(refusal('ABORTED', 'the start of a child with "one" was cancelled: the person left'))
    expect((error as SubagentError).cause).toBe(reason)
    expect(called).not.toHaveBeenCalled()
  })
})

it('the provider is handed the request as it was made, with what the service knows, and nothing that it did not ask for', async () => {
  const { ctx, parent, start } = await startApp()
  const seen: ProviderStartRequest[] = []
  ctx.subagents.registerProvider(provider('one', request => { seen.push(request); return idleRun() }))
  const { signal } = new AbortController()
  const asked = {
    prompt: [{ type: 'text', text: ' As it is. ' }], label: 'a few words', tool: { name: 'subagent', callId: 'c' }, agentOptions: { model: 'main' },
    persona: 'You are terse.', toolFilter: { deny: ['x'] }, cwd: '/srv',
  } as const
  await start('one', { ...asked, signal, stray: true } as Partial<SubagentStartRequest>)
  await start('one', { signal })
  expect(seen[0]).toMatchObject({ ...asked, parent, callerSignal: signal, runId: 'run-1', depth: 1, maxDepth: 3 })
  expect(seen[0]!.prompt).toBe(asked.prompt)
  expect(seen[0]).not.toHaveProperty('stray')
  expect(seen[1]).toMatchObject({ runId: 'run-2', label: undefined, persona: undefined, toolFilter: undefined })
})

describe('what a child inherited', () => {
  it('is told as its provider says it, and whether a cache of the parent\'s conversation fits', async () => {
    const { ctx, start } = await startApp()
    const infos: SubagentRunInfo[] = []
    ctx.on('subagent/start', info => { infos.push(info) })
    const moved: SubagentSeed['moved'][number][] = []
    ctx.subagents.registerProvider(provider('heir', () => idleRun({ seed: { turns: 2, steps: 1, moved } })))
    await start('heir')
    moved.push('model')
    await start('heir')
    expect(infos.map(({ seed }) => seed)).toEqual([
      { turns: 2, steps: 1, moved: [], coldCache: false },
      { turns: 2, steps: 1, moved: ['model'], coldCache: true },
    ])
    expect(ctx.subagents.tree().map(({ seed }) => seed)).toEqual(infos.map(({ seed }) => seed))
  })

  it('cannot be changed by who hears of it', async () => {
    const { ctx, start } = await startApp()
    const infos: SubagentRunInfo[] = []
    ctx.on('subagent/start', info => { infos.push(info) })
    ctx.subagents.registerProvider(provider('heir', () => idleRun({ seed: { turns: 0, steps: 0, moved: [] } })))
    await start('heir')
    const [info] = infos
    expect([info, info!.seed, info!.seed!.moved].map(value => Object.isFrozen(value))).toEqual([true, true, true])
  })

  it('is absent where its provider does not say', async () => {
    const { ctx, start } = await startApp()
    ctx.subagents.registerProvider(provider('one'))
    await start('one')
    expect(ctx.subagents.tree()[0]).not.toHaveProperty('seed')
  })
})

describe('a start that the provider fails', () => {
  it.each<[string, () => never | Promise<never>]>([
    ['throws', () => { throw new Error('no such binary') }],
    ['rejects', () => Promise.reject(new Error('no such binary'))],
  ])('because it %s, is START_FAILED with the cause; nothing is announced', async (_how, fail) => {
    const { ctx, start, events } = await startApp()
    ctx.subagents.registerProvider({ ...provider('one'), start: fail })
    const error = await start('one').catch((thrown: unknown) => thrown)
    expect(error).toEqual(refusal('START_FAILED', 'subagent provider "one" could not start a child: no such binary'))
    expect((error as Error).cause).toEqual(new Error('no such binary'))
    expect(events).toEqual(['added one'])
    expect(ctx.subagents.tree()).toEqual([])
  })

  it('with a SubagentError of its own, is that error', async () => {
    const { ctx, start } = await startApp()
    const own = new SubagentError('INVALID_REQUEST', 'this provider takes no files')
    ctx.subagents.registerProvider(provider('one', () => { throw own }))
    await expect(start('one')).rejects.toBe(own)
  })

  it('with something that holds a key, tells it scrubbed', async () => {
    const { ctx, start } = await startApp()
    ctx.subagents.registerProvider(provider('one', () => Promise.reject(new Error('bad key sk-proj-abcdef123456'))))
    await expect(start('one')).rejects.toThrow('bad key [redacted]')
  })

  it.each<[string, unknown]>([['nothing', undefined], ['no result', { dispose: async () => {} }], ['no dispose', { result: Promise.resolve(ended('completed', 'x')) }]])('by handing over %s, is START_FAILED', async (_what, run) => {
    const { ctx, start, events } = await startApp()
    ctx.subagents.registerProvider(provider('one', () => run as never))
    await expect(start('one')).rejects.toEqual(refusal('START_FAILED', /could not start a child: .*no run/))
    expect(events).toEqual(['added one'])
  })

  it('after the caller aborted, is ABORTED whatever it says', async () => {
    const { ctx, start, events } = await startApp()
    const failing = gate<never>()
    ctx.subagents.registerProvider(provider('one', () => failing.opened))
    const controller = new AbortController()
    const starting = start('one', { signal: controller.signal })
    controller.abort(new Error('never mind'))
    failing.fail(new Error('socket closed'))
    await expect(starting).rejects.toEqual(refusal('ABORTED', 'the start of a child with "one" was cancelled: never mind'))
    expect(events).toEqual(['added one'])
  })
})

it('missingCapability() says in advance what a start would be refused for', () => {
  expect(missingCapability(provider('one'), { persona: 'x', toolFilter: {}, maxDepth: 1 })).toBeUndefined()
  expect(missingCapability(provider('one', undefined, unable), {})).toBeUndefined()
  expect(missingCapability(provider('one', undefined, unable), { maxDepth: 0 })).toMatch(/^subagent provider "one" does not support maxDepth \(capability depthLimit/)
})
