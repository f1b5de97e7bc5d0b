import type { Reply } from '@offshoot/model-ai-sdk/testing'
import { describe, expect, it } from 'vitest'
import { App, delegateOnce, endedRun, oddProvider, parentTask, toolResult, type ToolConfig } from './support.ts'

const heading = 'What it had written by then, which is incomplete and no result:'
const endings: [string, Reply, string, string][] = [
  ['the token limit', { text: 'Half an\nanswer', finishReason: 'length' }, 'subagent run hit its token limit before finishing', 'Half an\nanswer'],
  ['a refusal', { text: 'I would rather', finishReason: 'content_filter' }, 'subagent declined the task', 'I would rather'],
  ['an endpoint that broke', { text: 'Half', error: 'went away' }, 'subagent run failed', 'Half'],
]

async function told(config: ToolConfig, child: Reply | ((index: number) => Reply)): Promise<string> {
  await using app = await App.start([{ provider: 'spawn', ...config }])
  delegateOnce(app.endpoint, typeof child === 'function' ? (_request, index) => child(index) : child)
  await app.agent().run(parentTask)
  return toolResult(app.endpoint)
}

describe('with partialOutput: append', () => {
  it.each(endings)('the exact error text is followed by what the child had written: %s', async (_what, child, sentence, partial) => {
    expect(await told({ partialOutput: 'append' }, child)).toBe(`Error: ${sentence}\n\n${heading}\n${partial}`)
  })

  it('what a child wrote when it had to stop comes with the error of its step limit', async () => {
    const text = await told({ partialOutput: 'append', agentOptions: { maxSteps: 1 } }, index => index === 0 ? { calls: [{ name: 'no_such_tool', arguments: {} }] } : { text: 'So far: nothing.' })
    expect(text).toBe(`Error: subagent run ended abnormally (max-steps)\n\n${heading}\nSo far: nothing.`)
  })

  it('what a child handed over that does not fit comes with the error, as JSON', async () => {
    const text = await told({ partialOutput: 'append', outputSchema: { type: 'object', required: ['sum'] } }, { calls: [{ name: 'structured_output', arguments: { total: 4 } }] })
    expect(text).toBe(`Error: subagent run ended abnormally (invalid-output)\n\n${heading}\n{"total":4}`)
  })

  it('an error of a child that wrote nothing, or only blanks, is the error alone', async () => {
    expect(await told({ partialOutput: 'append' }, { status: 400, error: 'no' })).toBe('Error: subagent run failed')
    await using app = await App.start([{ provider: 'odd', partialOutput: 'append' }])
    app.ctx.subagents.registerProvider(oddProvider(async () => endedRun('max-tokens', ' \n ')))
    delegateOnce(app.endpoint, {})
    await app.agent().run(parentTask)
    expect(toolResult(app.endpoint)).toBe('Error: subagent run hit its token limit before finishing')
  })

  it('never holds what an endpoint said of its failure', async () => {
    expect(await told({ partialOutput: 'append' }, { text: 'Half', error: 'secret detail' })).not.toContain('secret detail')
  })

  it('a child that completed answers with its text alone', async () => {
    expect(await told({ partialOutput: 'append' }, { text: 'All of it.' })).toBe('All of it.')
  })

  it('a background task that failed says it too', async () => {
    await using app = await App.start([{ provider: 'spawn', partialOutput: 'append' }])
    app.endpoint.respond(() => ({ text: 'Half', finishReason: 'length' }))
    const agent = app.agent()
    await agent.tools.execute('subagent', { description: 'd', prompt: 'p', run_in_background: true }, { callId: 'c', agent })
    expect((await app.ctx.tasks.wait('subagent-1')).outcome).toEqual({
      status: 'failed', error: `subagent run hit its token limit before finishing\n\n${heading}\nHalf`,
    })
  })
})

it.each<[string, ToolConfig]>([['none', { partialOutput: 'none' }], ['nothing said', {}]])('with partialOutput: %s an error is its exact text alone', async (_what, config) => {
  for (const [, child, sentence] of endings) expect(await told(config, child)).toBe(`Error: ${sentence}`)
})
