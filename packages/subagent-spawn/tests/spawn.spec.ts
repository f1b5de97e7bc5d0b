import AgentService, { type Agent } from '@offshoot/agent'
import ModelService from '@offshoot/model'
import { type FakeModel, fakeModel } from '@offshoot/model/testing'
import * as modelAiSdk from '@offshoot/model-ai-sdk'
import { messagesOf, startEndpoint } from '@offshoot/model-ai-sdk/testing'
import SessionService from '@offshoot/session'
import SubagentService, { type SubagentStartRequest } from '@offshoot/subagent'
import ToolService, { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { Context } from 'cordis'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as spawn from '../src/index.ts'

/** An app with everything that spawn stands on, and without it. */
async function bareApp(agent: Partial<AgentService.Config> = {}): Promise<Context> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  for (const service of [SessionService, ModelService, ToolService]) await ctx.plugin(service)
  await ctx.plugin(AgentService, agent)
  await ctx.plugin(SubagentService, {})
  return ctx
}

interface Child {
  /** What its model was sent. */
  readonly request: FakeModel['requests'][number]
  /** The registered name of that model. */
  readonly model: string
  readonly agent: Agent
}

/** The child that `request` makes, in an app with models `main` and `other`; the parent has used `main` before. */
async function childOf(request: Partial<SubagentStartRequest>, { app = {}, parent = {} }: { app?: Partial<AgentService.Config>, parent?: Parameters<AgentService['create']>[0] } = {}): Promise<Child> {
  const ctx = await bareApp(app)
  await ctx.plugin(spawn)
  const models = { main: fakeModel(() => 'ok'), other: fakeModel(() => 'ok') }
  for (const [name, model] of Object.entries(models)) ctx.models.register(name, model)
  for (const name of ['read', 'write']) ctx.tools.register(defineTool({ name, description: name, parameters: Type.Object({}), execute: () => name }))
  const starter = ctx.agents.create({ label: 'starter', ...parent })
  await starter.run('What the parent was told.')
  await using run = await ctx.subagents.start('spawn', { prompt: 'The task.', parent: starter, signal: new AbortController().signal, ...request })
  await run.result
  const agent = run.agent!
  return { agent, model: agent.modelName, request: models[agent.modelName as keyof typeof models].requests.at(-1)! }
}

describe('the plugin', () => {
  it('registers as "spawn", or by the name it is given', async () => {
    const ctx = await bareApp()
    await ctx.plugin(spawn)
    await ctx.plugin(spawn, { name: 'helper' })
    expect(ctx.subagents.list()).toEqual(['spawn', 'helper'])
  })

  it('waits for the services that it stands on', async () => {
    const ctx = new Context()
    onTestFinished(() => ctx.fiber.dispose())
    const plugin = ctx.plugin(spawn)
    for (const service of [SessionService, ModelService, ToolService]) await ctx.plugin(service)
    await ctx.plugin(AgentService, {})
    expect(ctx.get('subagents')).toBeUndefined()
    await ctx.plugin(SubagentService, {})
    await plugin.await()
    expect(ctx.subagents.list()).toEqual(['spawn'])
  })

  it('goes and comes with ctx.subagents, and with itself', async () => {
    const ctx = await bareApp()
    const plugin = ctx.plugin(spawn)
    await plugin
    await plugin.restart()
    expect(ctx.subagents.list()).toEqual(['spawn'])
    await plugin.dispose()
    expect(ctx.subagents.list()).toEqual([])
  })

  it('is refused by a name that is taken', async () => {
    const ctx = await bareApp()
    await ctx.plugin(spawn)
    await expect(ctx.plugin(spawn).await()).rejects.toMatchObject({ code: 'DUPLICATE_PROVIDER' })
  })

  it('has no default export, which would hide `inject` and `Config` from a loader', () => {
    expect(spawn).not.toHaveProperty('default')
    expect(spawn.inject).toEqual(['agents', 'subagents'])
  })
})

it('its provider can do all there is yet, and says that children start without the parent\'s context', async () => {
  const ctx = await bareApp()
  await ctx.plugin(spawn)
  expect(ctx.subagents.getProvider('spawn')).toMatchObject({
    name: 'spawn', inheritsParentContext: false, capabilities: { outputSchema: true, depthLimit: true, toolFilter: true, persona: true },
  })
})

describe('the child starts fresh:', () => {
  it('its first request holds its persona and the task, unchanged, and nothing of the parent', async () => {
    const { request } = await childOf({ prompt: '  The  task. ' })
    expect(request.prompt).toEqual([
      { role: 'system', content: expect.stringMatching(/^You are a capable agent .*\n\nWorking directory: /) as unknown },
      { role: 'user', content: [{ type: 'text', text: '  The  task. ' }] },
    ])
  })

  it('its model is the request\'s, else the parent\'s', async () => {
    expect((await childOf({})).model).toBe('main')
    expect((await childOf({}, { parent: { model: 'other' } })).model).toBe('other')
    expect((await childOf({ agentOptions: { model: 'main' } }, { parent: { model: 'other' } })).model).toBe('main')
  })

  it('its working directory is the request\'s, else the parent\'s', async () => {
    expect((await childOf({}, { parent: { cwd: '/srv' } })).request.prompt[0]!.content).toMatch(/Working directory: \/srv$/)
    expect((await childOf({ cwd: '/tmp' }, { parent: { cwd: '/srv' } })).request.prompt[0]!.content).toMatch(/Working directory: \/tmp$/)
  })

  it('its persona is the request\'s, else the app\'s; never the parent\'s own', async () => {
    const options = { app: { persona: 'The app\'s.' }, parent: { persona: 'The parent\'s.' } }
    expect((await childOf({}, options)).request.prompt[0]!.content).toMatch(/^The app's\.\n/)
    expect((await childOf({ persona: 'Its own.' }, options)).request.prompt[0]!.content).toMatch(/^Its own\.\n/)
  })

  it('its step limit is the request\'s, else the app\'s; never the parent\'s own', async () => {
    expect((await childOf({}, { app: { maxSteps: 7 }, parent: { maxSteps: 2 } })).agent.maxSteps).toBe(7)
    expect((await childOf({ agentOptions: { maxSteps: 3 } }, { app: { maxSteps: 7 } })).agent.maxSteps).toBe(3)
  })

  it('its output limit is the request\'s, else none', async () => {
    expect((await childOf({}, { parent: { maxOutputTokens: 5 } })).request).not.toHaveProperty('maxOutputTokens')
    expect((await childOf({ agentOptions: { maxOutputTokens: 9 } })).request.maxOutputTokens).toBe(9)
  })

  it('its tools are all that are registered, or those that the request\'s filter leaves; never the parent\'s own or its filter', async () => {
    const parent = { toolFilter: { allow: [] }, tools: [defineTool({ name: 'own', description: 'own', parameters: Type.Object({}), execute: () => '' })] }
    const seen = ({ request }: Child): string[] => request.tools?.map(({ name }) => name) ?? []
    expect(seen(await childOf({}, { parent }))).toEqual(['read', 'write'])
    expect(seen(await childOf({ toolFilter: { deny: ['write'] } }, { parent }))).toEqual(['read'])
  })

  it('its label is the request\'s, else the run\'s id', async () => {
    const labelOf = ({ request }: Child): unknown => request.providerOptions!['offshoot']!['label']
    expect(labelOf(await childOf({ label: 'look around' }))).toBe('look around')
    expect(labelOf(await childOf({}))).toBe('run-1')
  })
})

it('on the wire, a child\'s request carries its limit, its persona and its task', async () => {
  await using endpoint = await startEndpoint(() => ({ text: 'All I know.' }))
  const ctx = await bareApp()
  await ctx.plugin(spawn)
  await ctx.plugin(modelAiSdk, { baseURL: endpoint.baseURL, model: 'test-model' })
  await using run = await ctx.subagents.start('spawn', {
    prompt: 'The task.', parent: ctx.agents.create(), signal: new AbortController().signal, persona: 'You are a librarian.', cwd: '/srv', agentOptions: { maxOutputTokens: 9 },
  })
  expect(await run.result).toMatchObject({ stopReason: 'completed', output: [{ type: 'text', text: 'All I know.' }], model: 'test-model', usage: { inputTokens: 100, outputTokens: 20, steps: 1 } })
  const [request] = endpoint.requests
  expect(request!.body).toMatchObject({ model: 'test-model', max_tokens: 9 })
  expect(messagesOf(request!)).toEqual([{ role: 'user', content: 'The task.' }])
  expect(request!.body.messages[0]).toEqual({ role: 'system', content: 'You are a librarian.\n\nWorking directory: /srv' })
})
