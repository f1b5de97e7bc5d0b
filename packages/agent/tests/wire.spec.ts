import { EndpointModel } from '@offshoot/model-ai-sdk'
import { extendsRequest, messagesOf, type Reply, startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { describe, expect, it } from 'vitest'
import type { Agent } from '../src/index.ts'
import { gate, never, start, tool } from './support.ts'

/** An agent on a real streaming endpoint that answers with `replies`, one after the other. */
async function agentOn(endpoint: Awaited<ReturnType<typeof startEndpoint>>, replies: readonly Reply[]): Promise<Agent> {
  endpoint.respond((_request, index) => replies[index] ?? {})
  const { ctx } = await start()
  ctx.tools.register(tool('look'))
  ctx.models.register('endpoint', new EndpointModel({ baseURL: endpoint.baseURL, model: 'm' }))
  return ctx.agents.create({ model: 'endpoint', label: 'who-asks' })
}

describe('on the wire', () => {
  it('each request extends the one before byte for byte, through reasoning, odd arguments, the nudge and another turn', async () => {
    await using endpoint = await startEndpoint()
    const agent = await agentOn(endpoint, [
      { reasoning: 'Hm.', text: 'Look:', calls: [{ name: 'look', arguments: '{ }' }, { name: 'look', arguments: 'not json' }] }, { reasoning: 'Silent.' }, { text: 'One.' }, { text: 'Two.' },
    ])
    await agent.run('First.')
    await agent.run('Second.')
    const { requests } = endpoint
    expect(requests).toHaveLength(4)
    for (let i = 1; i < requests.length; i++) expect(extendsRequest(requests[i - 1]!, requests[i]!)).toBe(true)
    const [, look, ...results] = messagesOf(requests[1]!)
    expect(look).toMatchObject({ content: 'Look:', reasoning_content: 'Hm.', tool_calls: [{ function: { arguments: '{ }' } }, { function: { arguments: '{}' } }] })
    expect(results.map(({ content }) => content)).toEqual(['look done', 'Error: the arguments of "look" are not a JSON object; send the call again with valid JSON'])
    for (const { text } of requests) expect(text).not.toMatch(/offshoot|who-asks/)
  })

  it('an abort hangs up, and the turn says why', async () => {
    await using endpoint = await startEndpoint()
    const agent = await agentOn(endpoint, [{ text: ['Half', ' more'], holdAfter: never }])
    const writing = gate()
    agent.on(({ type }) => { if (type === 'text-delta') writing.open() })
    const turn = agent.run('Go.')
    await writing.opened
    agent.abort(new Error('enough'))
    expect(await turn).toMatchObject({ stopReason: 'aborted', diagnostic: 'enough', output: [{ text: 'Half' }], model: 'm' })
    await endpoint.requests[0]!.closed
    expect(endpoint.requests[0]!.aborted).toBe(true)
  })
})
