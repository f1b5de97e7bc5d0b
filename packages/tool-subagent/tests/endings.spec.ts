import type { Reply } from '@offshoot/model-ai-sdk/testing'
import type { ProviderRun, SubagentResult } from '@offshoot/subagent'
import type { StopReason } from '@offshoot/agent'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { createServer } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { App, childPrompt, delegateOnce, gate, parentTask, toolResult } from './support.ts'

const failed = 'Error: subagent run failed'
const wanted: [string, Reply | ((index: number) => Reply), StopReason, string, RegExp?][] = [
  ['finish_reason "stop" with text', { text: 'Yes.' }, 'completed', 'Yes.'],
  ['finish_reason "length"', { text: 'Half', finishReason: 'length' }, 'max-tokens', 'Error: subagent run hit its token limit before finishing'],
  ['finish_reason "length" in the middle of a tool call', { calls: [{ name: 'subagent', arguments: '{"prom' }], finishReason: 'length' }, 'max-tokens', 'Error: subagent run hit its token limit before finishing'],
  ['finish_reason "content_filter"', { text: 'Half', finishReason: 'content_filter' }, 'refusal', 'Error: subagent declined the task'],
  ['HTTP 400', { status: 400, error: 'bad field XYZ' }, 'error', failed, /answered 400: bad field XYZ/],
  ['HTTP 500', { status: 500, error: 'went wrong' }, 'error', failed, /answered 500: went wrong/],
  ['HTTP 500 without JSON', { status: 500, text: '<html>Bad gateway</html>' }, 'error', failed, /answered 500/],
  ['an error in the stream', { text: 'Half', error: 'went away' }, 'error', failed, /went away/],
  ['a connection cut in the middle', { text: ['Half', ' more'], cutOff: true }, 'error', failed],
  ['a stream that ends without a finish reason', { text: 'Looks done.', noFinish: true }, 'error', failed],
  ['an unknown finish reason', { text: 'Looks done.', finishReason: 'insufficient_system_resource' }, 'error', failed, /insufficient_system_resource/],
  ['empty text twice', {}, 'empty-output', 'Error: subagent run ended abnormally (empty-output)'],
  ['blank text twice', { text: ' \n ' }, 'empty-output', 'Error: subagent run ended abnormally (empty-output)'],
  ['only reasoning, twice', { reasoning: 'I could answer.' }, 'empty-output', 'Error: subagent run ended abnormally (empty-output)'],
  ['empty text, then an answer when asked for it', index => index === 0 ? {} : { text: 'Sorry: 42.' }, 'completed', 'Sorry: 42.'],
  ['calls for ever', index => ({ calls: [{ name: 'nothing', arguments: { index } }] }), 'max-steps', 'Error: subagent run ended abnormally (max-steps)'],
  ['the same call for ever', { calls: [{ name: 'nothing', arguments: {} }] }, 'loop', 'Error: subagent run ended abnormally (loop)'],
]

describe('the parent reads, of a child that ended with', () => {
  it.each(wanted)('%s', async (_cause, reply, stopReason, text, diagnostic) => {
    await using app = await App.start([{ provider: 'spawn', agentOptions: { maxSteps: 5 } }])
    delegateOnce(app.endpoint, typeof reply === 'function' ? (_request, index) => reply(index) : reply)
    const result = await app.agent().run(parentTask)

    expect(toolResult(app.endpoint)).toBe(text)
    expect(app.ended.map(([, { stopReason: reason }]) => reason)).toEqual([stopReason])
    if (diagnostic) expect(app.ended[0]![1].diagnostic).toMatch(diagnostic)
    expect(result.stopReason).toBe('completed')
    expect(app.ctx.agents.list()).toHaveLength(1)
  })
})

it('an endpoint that is not there fails the child, and the diagnostic names it', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  await using app = await App.start()
  await app.endpoint.close()
  const { EndpointModel } = await import('@offshoot/model-ai-sdk')
  app.ctx.models.register('gone', new EndpointModel({ baseURL: `http://127.0.0.1:${port}/v1`, model: 'm' }))
  const result = await app.ctx.agents.create({ model: 'gone' }).run('Hello?')
  expect(result.stopReason).toBe('error')
  expect(result.diagnostic).toMatch(new RegExp(`^the model endpoint http://127\\.0\\.0\\.1:${port}/v1/chat/completions cannot be reached: .*ECONNREFUSED`))
})

it('an abort before a child exists reads as a cancelled run', async () => {
  await using app = await App.start()
  const tool = app.agent().tools
  const result = await tool.execute('subagent', { description: 'd', prompt: 'p' }, { callId: 'c', agent: app.agent(), signal: AbortSignal.abort() })
  expect(result).toEqual({ isError: true, content: [{ type: 'text', text: 'Error: subagent run was cancelled' }] })
  expect(app.endpoint.requests).toEqual([])
})

it('an abort while the child works reads as a cancelled run', async () => {
  await using app = await App.start()
  const atWork = gate()
  app.endpoint.respond(() => {
    atWork.open()
    return { hold: new Promise(() => {}) }
  })
  const controller = new AbortController()
  const agent = app.agent()
  const call = agent.tools.execute('subagent', { description: 'd', prompt: 'p' }, { callId: 'c', agent, signal: controller.signal })
  await atWork.opened
  controller.abort()
  expect((await call).content).toEqual([{ type: 'text', text: 'Error: subagent run was cancelled' }])
  expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual(['aborted'])
})

it('a call without a calling agent says so, and starts nothing', async () => {
  await using app = await App.start()
  const result = await app.ctx.tools.view().execute('subagent', { description: 'd', prompt: 'p' }, { callId: 'c' })
  expect(result.content).toEqual([{ type: 'text', text: 'Error: subagent tool requires a calling agent (exec.agent was undefined)' }])
})

it.each([['description', { description: ' ', prompt: 'p' }], ['prompt', { description: 'd', prompt: '\n' }]])('a blank %s is refused, and starts nothing', async (key, args) => {
  await using app = await App.start()
  const agent = app.agent()
  const result = await agent.tools.execute('subagent', args, { callId: 'c', agent })
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(new RegExp(`^Error: "${key}" must not be blank`)) }] })
  expect(app.endpoint.requests).toEqual([])
})

it('a start that fails reads as the reason', async () => {
  await using app = await App.start([{ provider: 'spawn', agentOptions: { model: 'mian' } }])
  delegateOnce(app.endpoint, { text: 'never' })
  await app.agent().run(parentTask)
  expect(toolResult(app.endpoint)).toBe('Error: subagent provider "spawn" could not start a child: no model "mian"; did you mean "main"? (models: main)')
  expect(app.ended).toEqual([])
})

describe('a provider that breaks its promises', () => {
  const completed: SubagentResult = { stopReason: 'completed', output: [{ type: 'text', text: 'The outcome.' }], usage: { steps: 1, toolCalls: 0, durationMs: 1 } }

  async function appWith(run: () => ProviderRun): Promise<App> {
    const app = await App.start([{ provider: 'odd' }], { subagents: { disposeGraceMs: 50 } })
    app.ctx.subagents.registerProvider({
      name: 'odd', inheritsParentContext: false,
      capabilities: { outputSchema: false, depthLimit: false, toolFilter: false, persona: false },
      start: async () => run(),
    })
    delegateOnce(app.endpoint, {})
    return app
  }

  it('by a result that rejects, reads as a failed run', async () => {
    await using app = await appWith(() => ({ result: Promise.reject(new Error('kaput')), dispose: async () => {} }))
    await app.agent().run(parentTask)
    expect(toolResult(app.endpoint)).toBe(failed)
    expect(app.ended[0]![1]).toMatchObject({ stopReason: 'error', diagnostic: expect.stringContaining('kaput') })
  })

  it.each<[string, () => Promise<void>]>([
    ['rejects', () => Promise.reject(new Error('stuck'))],
    ['throws', () => { throw new Error('stuck') }],
    ['hangs', () => new Promise(() => {})],
  ])('by a disposal that %s, still gives the child\'s outcome, and the failure goes to the log', async (_how, dispose) => {
    await using app = await appWith(() => ({ result: Promise.resolve(completed), dispose }))
    const logged: unknown[] = []
    app.ctx.logger.exporter({ colors: false, levels: { default: 3 }, export: (message: { args: unknown[] }) => { logged.push(message.args[0]) } } as never)
    const result = await app.agent().run(parentTask)
    expect(result.stopReason).toBe('completed')
    expect(toolResult(app.endpoint)).toBe('The outcome.')
    expect(logged).toContainEqual(expect.objectContaining({ code: 'DISPOSE_FAILED', message: expect.stringMatching(/^disposing run-1 of subagent provider "odd" failed: (stuck|not quiet after 50 ms)$/) }))
  })

  it('by an unknown stop reason, reads as an abnormal end that names it', async () => {
    await using app = await appWith(() => ({ result: Promise.resolve({ ...completed, stopReason: 'went-missing' as StopReason }), dispose: async () => {} }))
    await app.agent().run(parentTask)
    expect(toolResult(app.endpoint)).toBe('Error: subagent run ended abnormally (went-missing)')
  })

  it('by success without output, reads as empty output', async () => {
    await using app = await appWith(() => ({ result: Promise.resolve({ ...completed, output: [] }), dispose: async () => {} }))
    await app.agent().run(parentTask)
    expect(toolResult(app.endpoint)).toBe('Error: subagent run ended abnormally (empty-output)')
  })

  it('by handing over no run at all, reads as a start that failed', async () => {
    await using app = await appWith(() => ({}) as ProviderRun)
    await app.agent().run(parentTask)
    expect(toolResult(app.endpoint)).toMatch(/^Error: subagent provider "odd" could not start a child: .*no run/)
  })
})

it('disposes the run once, whatever the outcome, and before the parent goes on', async () => {
  await using app = await App.start([{ provider: 'watched' }])
  const dispose = vi.fn(async () => {})
  app.ctx.subagents.registerProvider({
    name: 'watched', inheritsParentContext: false,
    capabilities: { outputSchema: false, depthLimit: false, toolFilter: false, persona: false },
    start: async ({ prompt }) => {
      expect(prompt).toBe(childPrompt)
      return { result: Promise.resolve({ stopReason: 'refusal', output: [], usage: { steps: 1, toolCalls: 0, durationMs: 1 } }), dispose }
    },
  })
  app.ctx.tools.register(defineTool({ name: 'unused', description: 'u', parameters: Type.Object({}), execute: () => '' }))
  delegateOnce(app.endpoint, {})
  await app.agent().run(parentTask)
  expect(dispose).toHaveBeenCalledOnce()
})
