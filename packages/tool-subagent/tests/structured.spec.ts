import { messagesOf, type RecordedRequest, type Reply, toolsOf } from '@offshoot/model-ai-sdk/testing'
import type { SubagentResult } from '@offshoot/subagent'
import { describe, expect, it } from 'vitest'
import { App, childPrompt, delegateOnce, isParent, lastMessage, parentTask, toolResult } from './support.ts'

const outputSchema = {
  type: 'object',
  properties: {
    verdict: { enum: ['clean', 'dirty'] },
    findings: { type: 'array', items: { type: 'object', properties: { file: { type: 'string' }, line: { type: 'integer' } }, required: ['file', 'line'], additionalProperties: false } },
  },
  required: ['verdict'],
}
const value = { verdict: 'dirty', findings: [{ file: 'a.ts', line: 7 }] }

function handOver(args: object | string): Reply {
  return { calls: [{ name: 'structured_output', arguments: args }] }
}

interface Outcome {
  /** What the parent's model was told. */
  readonly told: string
  readonly result: SubagentResult
  /** The child's requests. */
  readonly requests: readonly RecordedRequest[]
}

/** One delegation, whose child answers with `replies`, one after the other. */
async function delegated(replies: Reply[], config: object = {}): Promise<Outcome> {
  await using app = await App.start([{ provider: 'spawn', outputSchema, ...config }])
  delegateOnce(app.endpoint, (_request, index) => replies[index] ?? { text: 'never' })
  expect((await app.agent().run(parentTask)).stopReason).toBe('completed')
  return { told: toolResult(app.endpoint), result: app.ended[0]![1], requests: app.endpoint.requests.filter(request => !isParent(request)) }
}

describe('a child with an output schema', () => {
  it('is offered structured_output with the schema as it stands in the config, and its prompt is unchanged', async () => {
    const { requests: [request] } = await delegated([handOver(value)])
    const tool = request!.body.tools!.find(each => each.function.name === 'structured_output')
    expect(tool!.function.parameters).toEqual(outputSchema)
    expect(messagesOf(request!)).toEqual([{ role: 'user', content: childPrompt }])
  })

  it('answers with the JSON of what it hands over, alone', async () => {
    const { told, result, requests } = await delegated([{ text: 'Here you are.', ...handOver('{ "verdict": "clean" }') }])
    expect(told).toBe('{"verdict":"clean"}')
    expect(result).toMatchObject({ stopReason: 'completed', structured: { verdict: 'clean' } })
    expect(requests).toHaveLength(1)
  })

  it('may repair what does not fit, once, told by path', async () => {
    const { told, requests } = await delegated([handOver({ verdict: 'so so', findings: [{ file: 'a.ts', line: '7', note: 'x' }] }), handOver(value)])
    expect(told).toBe(JSON.stringify(value))
    expect(lastMessage(requests[1]!).content).toBe('Error: invalid arguments for "structured_output": verdict: does not match any of ["clean","dirty"]; findings.0.line: type "string" is invalid, expected "integer"; findings.0.note: is not allowed')
  })

  it('that hands over what does not fit twice is invalid-output; people read where, and nothing that it wrote', async () => {
    const { told, result, requests } = await delegated([handOver({}), handOver({ verdict: 'so so', findings: [{ file: 'a.ts', line: 1, note: 'x' }] }), handOver(value)])
    expect(told).toBe('Error: subagent run ended abnormally (invalid-output)')
    expect(result).toMatchObject({ stopReason: 'invalid-output', diagnostic: 'structured_output was called with what does not fit: verdict (enum); findings.0.* (not allowed)' })
    expect(requests).toHaveLength(2)
  })

  it('that only writes text is reminded once, then invalid-output', async () => {
    const text = JSON.stringify(value)
    const { told, result, requests } = await delegated([{ text }, { text }])
    expect(told).toBe('Error: subagent run ended abnormally (invalid-output)')
    expect(result).toMatchObject({ stopReason: 'invalid-output', diagnostic: 'structured_output was never called', output: [{ type: 'text', text }] })
    expect(lastMessage(requests[1]!)).toMatchObject({ role: 'user', content: expect.stringMatching(/^You ended without handing over your answer/) as unknown })
  })

  it('hands over beside other calls, which run', async () => {
    const { told, result } = await delegated([{ calls: [...handOver(value).calls!, { name: 'no_such_tool', arguments: {} }] }])
    expect(told).toBe(JSON.stringify(value))
    expect(result.usage.toolCalls).toBe(2)
  })

  it('keeps the tool under a filter that hides all others', async () => {
    const { told, requests } = await delegated([handOver(value)], { toolFilter: { allow: [] } })
    expect(told).toBe(JSON.stringify(value))
    expect(toolsOf(requests[0]!)).toEqual(['structured_output'])
  })

  it('that is cut by the token limit while it hands over is max-tokens', async () => {
    const { told } = await delegated([{ ...handOver('{"verdict":'), finishReason: 'length' }])
    expect(told).toBe('Error: subagent run hit its token limit before finishing')
  })

  it('that wraps up at its step limit is max-steps, whatever it writes', async () => {
    const { told, result } = await delegated([{ calls: [{ name: 'no_such_tool', arguments: {} }] }, { text: JSON.stringify(value) }], { agentOptions: { maxSteps: 1 } })
    expect(told).toBe('Error: subagent run ended abnormally (max-steps)')
    expect(result).not.toHaveProperty('structured')
  })

  it('hands over again in the turn that reads its own background work', async () => {
    await using app = await App.start([{ provider: 'spawn', outputSchema }, { provider: 'spawn', toolName: 'look' }])
    let handed = 0
    app.endpoint.respond(request => {
      const [first] = messagesOf(request)
      if (isParent(request)) return lastMessage(request).role === 'tool' ? { text: 'Done.' } : { calls: [{ name: 'subagent', arguments: { description: 'check', prompt: 'Check it.' } }] }
      if (first!.content === 'Look.') return { text: 'Clean after all.' }
      const look = { name: 'look', arguments: { description: 'look', prompt: 'Look.', run_in_background: true } }
      return handed++ === 0 ? { calls: [look, ...handOver(value).calls!] } : handOver({ verdict: 'clean' })
    })
    await app.agent().run(parentTask)
    expect(toolResult(app.endpoint)).toBe('{"verdict":"clean"}')
  })

  it('passes neither the schema nor the tool on to a child of its own', async () => {
    await using app = await App.start([{ provider: 'spawn', outputSchema }, { provider: 'spawn', toolName: 'look' }])
    app.endpoint.respond(request => {
      if (isParent(request)) return lastMessage(request).role === 'tool' ? { text: 'Done.' } : { calls: [{ name: 'subagent', arguments: { description: 'check', prompt: 'Check it.' } }] }
      if (messagesOf(request)[0]!.content === 'Look.') return { text: `I have ${toolsOf(request).includes('structured_output') ? 'it' : 'none'}.` }
      const { role, content } = lastMessage(request)
      return role === 'tool' ? handOver({ verdict: 'clean', of: content as string }) : { calls: [{ name: 'look', arguments: { description: 'look', prompt: 'Look.' } }] }
    })
    await app.agent().run(parentTask)
    expect(toolResult(app.endpoint)).toBe('{"verdict":"clean","of":"I have none."}')
    expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual(['completed', 'completed'])
  })
})

describe('in the background', () => {
  async function outcome(replies: Reply[]): Promise<unknown> {
    await using app = await App.start([{ provider: 'spawn', outputSchema }])
    let index = 0
    app.endpoint.respond(() => replies[index++] ?? { text: 'ok' })
    const agent = app.agent()
    await agent.tools.execute('subagent', { description: 'd', prompt: 'p', run_in_background: true }, { callId: 'c', agent })
    return (await app.ctx.tasks.wait('subagent-1')).outcome
  }

  it('the task\'s output is the JSON of what the child handed over', async () => {
    expect(await outcome([handOver(value)])).toEqual({ status: 'completed', output: JSON.stringify(value) })
  })

  it('a child without a valid one is a failed task', async () => {
    expect(await outcome([handOver({}), handOver({})])).toEqual({ status: 'failed', error: 'subagent run ended abnormally (invalid-output)' })
  })
})

it('the tool without a schema offers its children nothing of it', async () => {
  await using app = await App.start()
  delegateOnce(app.endpoint, { text: 'Text.' })
  await app.agent().run(parentTask)
  expect(toolsOf(app.endpoint.requests.find(request => !isParent(request))!)).not.toContain('structured_output')
  expect(toolResult(app.endpoint)).toBe('Text.')
})
