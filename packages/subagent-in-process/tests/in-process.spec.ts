import AgentService, { type Agent } from '@offshoot/agent'
import ModelService from '@offshoot/model'
import { type FakeModel, type FakeReply, fakeModel } from '@offshoot/model/testing'
import SessionService from '@offshoot/session'
import SubagentService, { type ProviderStartRequest, type SubagentResult } from '@offshoot/subagent'
import ToolService from '@offshoot/tools'
import { Context } from 'cordis'
import { getEventListeners } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startInProcess } from '../src/index.ts'

interface App {
  readonly ctx: Context
  readonly parent: Agent
  readonly model: FakeModel
  request(overrides?: Partial<ProviderStartRequest>): ProviderStartRequest
}

async function startApp(reply: Parameters<typeof fakeModel>[0] = () => 'The answer.'): Promise<App> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  for (const service of [SessionService, ModelService, ToolService]) await ctx.plugin(service)
  await ctx.plugin(AgentService, {})
  await ctx.plugin(SubagentService, {})
  const model = fakeModel(reply)
  ctx.models.register('main', model)
  const parent = ctx.agents.create({ cwd: '/srv' })
  return {
    ctx, parent, model,
    request(overrides) {
      const { signal } = new AbortController()
      return { prompt: 'Say hello.', parent, signal, callerSignal: overrides?.signal ?? signal, runId: 'run-1', depth: 1, maxDepth: 3, disposeGraceMs: 1000, ...overrides }
    },
  }
}

const never: Promise<never> = new Promise(() => {})

describe('startInProcess()', () => {
  it('makes a child of the parent, which asks its model only once it begins', async () => {
    const { ctx, parent, model, request } = await startApp()
    const run = startInProcess(ctx.agents.core, request())
    expect(ctx.agents.list()).toEqual([parent, run.agent])
    expect(run.agent).toMatchObject({ parent, depth: 1, cwd: '/srv', modelName: 'main', label: 'run-1', state: 'idle' })
    expect(run.agent.session.header.parent).toBe(parent.session.id)
    await new Promise(resolve => { setImmediate(resolve) })
    expect(model.requests).toEqual([])
    run.begin!()
    expect(await run.result).toMatchObject({ stopReason: 'completed', output: [{ type: 'text', text: 'The answer.' }], steps: 1, model: 'fake' })
    expect(model.requests[0]!.prompt[1]).toEqual({ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] })
    await run.dispose()
    expect(ctx.agents.list()).toEqual([parent])
  })

  it('gives the child what the request says, and a session that the provider made', async () => {
    const { ctx, model, request } = await startApp()
    ctx.models.register('other', model)
    const session = ctx.sessions.create({ depth: 1, cwd: '/tmp' })
    const run = startInProcess(ctx.agents.core, request({
      label: 'look around', persona: 'You are terse.', toolFilter: { allow: [] }, cwd: '/tmp', agentOptions: { model: 'other', maxSteps: 2, maxOutputTokens: 9 },
    }), { session })
    expect(run.agent).toMatchObject({
      label: 'look around', persona: 'You are terse.', toolFilter: { allow: [] }, cwd: '/tmp', modelName: 'other', maxSteps: 2, maxOutputTokens: 9, session,
    })
    await run.dispose()
  })

  it.each<[string, Partial<ProviderStartRequest>, string]>([
    ['a model that nobody registered', { agentOptions: { model: 'no-such' } }, 'UNKNOWN_MODEL'],
    ['a filter with neither key', { toolFilter: {} }, 'EMPTY_FILTER'],
    ['a relative working directory', { cwd: 'src' }, 'INVALID_AGENT'],
  ])('throws for %s, and leaves nothing behind', async (_what, overrides, code) => {
    const { ctx, parent, request } = await startApp()
    const created: Agent[] = []
    ctx.on('agent/created', agent => { created.push(agent) })
    const { signal } = new AbortController()
    expect(() => startInProcess(ctx.agents.core, request({ ...overrides, signal }))).toThrow(expect.objectContaining({ code }))
    expect([created, ctx.agents.list()]).toEqual([[], [parent]])
    expect(getEventListeners(signal, 'abort')).toEqual([])
    await parent.dispose()
  })
})

describe('a child that never begins', () => {
  it('because it was disposed, settles aborted without asking its model; beginning then changes nothing', async () => {
    const { ctx, parent, model, request } = await startApp()
    const run = startInProcess(ctx.agents.core, request())
    await run.dispose()
    run.begin!()
    expect(await run.result).toEqual({ stopReason: 'aborted', output: [], diagnostic: 'the child was disposed before it began', usage: { steps: 0, toolCalls: 0, durationMs: 0 } })
    expect([model.requests, ctx.agents.list()]).toEqual([[], [parent]])
  })

  it('because its parent went, settles aborted', async () => {
    const { ctx, parent, model, request } = await startApp()
    const run = startInProcess(ctx.agents.core, request())
    await parent.dispose()
    run.begin!()
    expect((await run.result).stopReason).toBe('aborted')
    await run.dispose()
    expect([model.requests, ctx.agents.list()]).toEqual([[], []])
  })

  it('because the caller aborted in the meantime, settles aborted for that reason', async () => {
    const { ctx, model, request } = await startApp()
    const controller = new AbortController()
    const run = startInProcess(ctx.agents.core, request({ signal: controller.signal }))
    controller.abort(new Error('never mind'))
    run.begin!()
    expect(await run.result).toMatchObject({ stopReason: 'aborted', diagnostic: 'never mind', usage: { steps: 0 } })
    expect(model.requests).toEqual([])
    await run.dispose()
  })
})

describe('a child at work', () => {
  it('is aborted by the caller\'s signal, which carries no listener afterwards', async () => {
    const { ctx, request } = await startApp(() => ({ hold: never }))
    const controller = new AbortController()
    const run = startInProcess(ctx.agents.core, request({ signal: controller.signal }))
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    run.begin!()
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
    controller.abort(new Error('enough'))
    expect(await run.result).toMatchObject({ stopReason: 'aborted', diagnostic: 'enough' })
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    await run.dispose()
  })

  it('is ended by dispose(), which waits for it', async () => {
    const { ctx, parent, request } = await startApp(() => ({ hold: never }))
    const run = startInProcess(ctx.agents.core, request())
    run.begin!()
    await Promise.all([run.dispose(), run.dispose()])
    expect((await run.result).stopReason).toBe('aborted')
    expect(ctx.agents.list()).toEqual([parent])
  })

  it('keeps its outcome when it is disposed after its end', async () => {
    const { ctx, request } = await startApp()
    const run = startInProcess(ctx.agents.core, request())
    run.begin!()
    const result = await run.result
    await run.dispose()
    expect(await run.result).toBe(result)
  })
})

describe('a child with an output schema', () => {
  const outputSchema = {
    type: 'object',
    properties: { findings: { type: 'array', items: { type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] } } },
    required: ['findings'],
  }
  const handOver = (args: object): FakeReply => ({ calls: [{ name: 'structured_output', args }] })
  const good = handOver({ findings: [{ line: 7 }] })

  async function resultOf(replies: (FakeReply | string)[], overrides: Partial<ProviderStartRequest> = {}): Promise<{ result: SubagentResult, app: App }> {
    const app = await startApp((_request, index) => replies[index] ?? 'never')
    const run = startInProcess(app.ctx.agents.core, app.request({ outputSchema, ...overrides }))
    run.begin!()
    const result = await run.result
    await run.dispose()
    expect(app.ctx.agents.list()).toEqual([app.parent])
    return { result, app }
  }

  it('is told by its tool alone: its prompt is unchanged, and the tool\'s parameters are the schema', async () => {
    const { app: { model } } = await resultOf([good])
    expect(model.requests[0]!.prompt[1]).toEqual({ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] })
    expect(model.requests[0]!.tools).toMatchObject([{ name: 'structured_output', description: expect.stringContaining('end with this call') as unknown, inputSchema: outputSchema }])
  })

  it('completes with what it hands over, at once or after one repair', async () => {
    for (const replies of [[good], [handOver({ findings: [{}] }), good], ['Seven.', good]]) {
      const { result } = await resultOf(replies)
      expect(result).toMatchObject({ stopReason: 'completed', structured: { findings: [{ line: 7 }] }, output: [{ type: 'text', text: '{"findings":[{"line":7}]}' }] })
      expect(Object.isFrozen(result.structured)).toBe(true)
    }
  })

  it('is told which parts do not fit', async () => {
    const { app: { model } } = await resultOf([handOver({ findings: [{ line: 7 }, { line: 'eight' }, {}] }), good])
    expect(model.requests[1]!.prompt.at(-1)).toMatchObject({ role: 'tool', content: [{ output: {
      type: 'error-text', value: 'Error: invalid arguments for "structured_output": findings.1.line: type "string" is invalid, expected "integer"; findings.2.line: is missing',
    } }] })
  })

  it.each<[string, (FakeReply | string)[], string]>([
    ['that never called it', ['Seven.', 'Seven!'], 'structured_output was never called'],
    ['whose calls did not fit: which parts, and nothing that it wrote', [handOver({}), handOver({ findings: [{ line: 'eight' }, { nine: 9 }] })], 'structured_output was called with what does not fit: findings.0.line (type); findings.1.line (required)'],
  ])('ends with invalid-output that says why, for one %s', async (_what, replies, diagnostic) => {
    expect((await resultOf(replies)).result).toMatchObject({ stopReason: 'invalid-output', diagnostic })
  })

  it('hands over although its filter hides every tool', async () => {
    expect((await resultOf([good], { toolFilter: { allow: [] } })).result.stopReason).toBe('completed')
  })

  it('that is cut by its step limit ends with that, never completed', async () => {
    const { result } = await resultOf([handOver({}), good], { agentOptions: { maxSteps: 1 } })
    expect(result.stopReason).toBe('max-steps')
    expect(result).not.toHaveProperty('structured')
  })
})

it('a model withdrawn after the child was made and before it began is an error of the run', async () => {
  const { ctx, parent } = await startApp()
  const withdraw = ctx.models.register('other', fakeModel(() => 'never'))
  ctx.subagents.registerProvider({
    name: 'here', inheritsParentContext: false, capabilities: { outputSchema: false, depthLimit: true, toolFilter: true, persona: true },
    start: async request => startInProcess(ctx.agents.core, request),
  })
  ctx.on('subagent/start', () => { withdraw() })
  const run = await ctx.subagents.start('here', { prompt: 'Go.', parent, signal: new AbortController().signal, agentOptions: { model: 'other' } })
  expect(await run.result).toMatchObject({ stopReason: 'error', diagnostic: expect.stringContaining('no model "other"') })
  await run.dispose()
  expect(ctx.agents.list()).toEqual([parent])
})
