import { messagesOf, type RecordedRequest } from '@offshoot/model-ai-sdk/testing'
import { describe, expect, it } from 'vitest'
import { App, endedRun, gate, inBackground, isParent, lastMessage, oddProvider, parentTask, tasksPlugin, type ToolConfig } from './support.ts'

function isNotice(request: RecordedRequest): boolean {
  const { role, content } = lastMessage(request)
  return role === 'user' && typeof content === 'string' && content.startsWith('<task-notice')
}

/** The parent starts one child in the background and goes on; a notice makes it answer with what it was told. */
function delegateInBackground(app: App, child: () => Promise<{ text: string }> | { text: string }): void {
  app.endpoint.respond(request => {
    if (!isParent(request)) return child()
    if (isNotice(request)) return { text: `told: ${lastMessage(request).content as string}` }
    if (lastMessage(request).role === 'tool') return { text: `went on after: ${lastMessage(request).content as string}` }
    return { calls: [{ name: 'subagent', arguments: inBackground }] }
  })
}

describe('a call with run_in_background', () => {
  it('answers at once with exactly the id, and the result comes in a notice that wakes the parent', async () => {
    await using app = await App.start()
    const child = gate()
    delegateInBackground(app, async () => {
      await child.opened
      return { text: 'Found it.' }
    })
    const agent = app.agent()
    const first = await agent.run(parentTask)
    expect(first.output).toEqual([{ type: 'text', text: 'went on after: started background subagent task subagent-1' }])
    expect(app.ctx.tasks.list(agent)).toMatchObject([{ id: 'subagent-1', kind: 'subagent', label: 'look it up', status: 'running' }])
    child.open()
    const last = await agent.untilQuiet()
    expect(last!.output).toEqual([{ type: 'text', text: 'told: <task-notice task="subagent-1" status="completed">Found it.</task-notice>' }])
    expect(app.ctx.tasks.get('subagent-1')).toMatchObject({ status: 'completed', delivery: 'delivered', outcome: { output: 'Found it.' } })
    expect(app.ctx.agents.list()).toEqual([agent])
  })

  it('registers the task before it asks the provider, and the run names the task', async () => {
    await using app = await App.start([{ provider: 'odd' }])
    let seen: string | undefined
    app.ctx.subagents.registerProvider(oddProvider(async ({ parent, tool }) => {
      seen = `${app.ctx.tasks.list(parent).map(({ id, status }) => `${id} ${status}`).join()} for ${tool?.taskId}`
      return endedRun('completed', 'ok')
    }))
    const agent = app.agent()
    await agent.tools.execute('subagent', inBackground, { callId: 'c', agent })
    expect(seen).toBe('subagent-1 running for subagent-1')
    await app.ctx.tasks.wait('subagent-1')
    expect(app.ended[0]![0].tool).toEqual({ name: 'subagent', callId: 'c', taskId: 'subagent-1' })
  })

  it('outlives the turn that made it, and an abort of that turn', async () => {
    await using app = await App.start()
    const child = gate()
    delegateInBackground(app, async () => {
      await child.opened
      return { text: 'Found it.' }
    })
    const agent = app.agent()
    agent.on(event => { if (event.type === 'tool-end') agent.abort() })
    expect((await agent.run(parentTask)).stopReason).toBe('aborted')
    child.open()
    expect(await app.ctx.tasks.wait('subagent-1')).toMatchObject({ status: 'completed' })
    // An aborted agent is not woken: it is told at its next input.
    await new Promise(resolve => { setImmediate(resolve) })
    expect(agent.state).toBe('idle')
    app.endpoint.respond(() => ({ text: 'ok' }))
    await agent.run('And now?')
    expect(messagesOf(app.endpoint.requests.at(-1)!).slice(-2).map(({ content }) => content)).toEqual([
      '<task-notice task="subagent-1" status="completed">Found it.</task-notice>', 'And now?',
    ])
  })

  it('that comes after its turn was aborted starts nothing', async () => {
    await using app = await App.start()
    const agent = app.agent()
    const result = await agent.tools.execute('subagent', inBackground, { callId: 'c', agent, signal: AbortSignal.abort() })
    expect(result).toEqual({ isError: true, content: [{ type: 'text', text: 'Error: subagent run was cancelled' }] })
    expect(app.ctx.tasks.list()).toEqual([])
  })

  it('without a calling agent says so, and starts nothing', async () => {
    await using app = await App.start()
    const result = await app.ctx.tools.view().execute('subagent', inBackground, { callId: 'c' })
    expect(result.content).toEqual([{ type: 'text', text: 'Error: subagent tool requires a calling agent (exec.agent was undefined)' }])
    expect(app.ctx.tasks.list()).toEqual([])
  })
})

describe('background mode that is not there', () => {
  async function refusal(config: ToolConfig, prepare: (app: App) => Promise<void> = async () => {}): Promise<{ parameters: string[], description: string, text: string }> {
    await using app = await App.start([{ provider: 'spawn', ...config }])
    await prepare(app)
    const agent = app.agent()
    const { spec } = agent.tools.get('subagent')!
    const result = await agent.tools.execute('subagent', inBackground, { callId: 'c', agent })
    expect(app.ended).toEqual([])
    expect(app.endpoint.requests).toEqual([])
    return {
      parameters: Object.keys((spec.inputSchema as { properties: object }).properties),
      description: spec.description!,
      text: result.content.map(block => block.type === 'text' ? block.text : '').join(),
    }
  }

  it('because it is switched off: absent from the schema and the description, and refused when called, with no child started', async () => {
    const { parameters, description, text } = await refusal({ enableRunInBackground: false })
    expect(parameters).toEqual(['description', 'prompt'])
    expect(description).not.toContain('run_in_background')
    expect(text).toBe('Error: background mode is switched off for this tool (enableRunInBackground); call "subagent" without run_in_background')
  })

  it('because the app has no ctx.tasks: likewise, until it has', async () => {
    const { parameters, text } = await refusal({}, async ({ ctx }) => {
      await tasksPlugin(ctx).dispose()
    })
    expect(parameters).toEqual(['description', 'prompt'])
    expect(text).toBe('Error: nothing can run in the background here (the app has no ctx.tasks); call "subagent" without run_in_background')
  })
})
