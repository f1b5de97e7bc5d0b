import { extendsRequest, messagesOf, toolsOf } from '@offshoot/model-ai-sdk/testing'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as spawn from '@offshoot/subagent-spawn'
import { App, childPrompt, delegateOnce, isParent, lastMessage, parentTask, settled, taskTools } from './support.ts'

const specified = JSON.parse(readFileSync(new URL('specified-texts.json', import.meta.url), 'utf8')) as Record<'standalone' | 'inherited', { tool: string, prompt: string }> & { label: string }

it('offers the tool to the parent\'s model with exactly the specified texts', async () => {
  await using app = await App.start([{ provider: 'spawn', enableRunInBackground: false }])
  await app.agent().run(parentTask)
  expect(app.endpoint.requests[0]!.body.tools!.filter(tool => !taskTools.includes(tool.function.name))).toEqual([{
    type: 'function',
    function: {
      name: 'subagent',
      description: specified.standalone.tool,
      parameters: {
        type: 'object',
        properties: {
          description: { type: 'string', description: specified.label },
          prompt: { type: 'string', description: specified.standalone.prompt },
        },
        required: ['description', 'prompt'],
      },
    },
  }])
})

it('words the tool by whether the provider\'s children inherit the conversation, or as the provider says itself', async () => {
  await using app = await App.start([{ provider: 'heir', toolName: 'a', enableRunInBackground: false }, { provider: 'own', toolName: 'b', enableRunInBackground: false }])
  const capabilities = { outputSchema: false, depthLimit: false, toolFilter: false, persona: false }
  const start = () => Promise.reject(new Error('not started here'))
  app.ctx.subagents.registerProvider({ name: 'heir', capabilities, inheritsParentContext: true, start })
  app.ctx.subagents.registerProvider({ name: 'own', capabilities, inheritsParentContext: true, start, toolWording: { description: 'D', prompt: 'P' } })
  await app.agent().run(parentTask)
  const [a, b] = app.endpoint.requests[0]!.body.tools!.map(tool => tool.function)
  expect(a!.description).toBe(specified.inherited.tool)
  expect(a!.parameters).toMatchObject({ properties: { prompt: { description: specified.inherited.prompt }, description: { description: specified.label } } })
  expect(b).toMatchObject({ description: 'D', parameters: { properties: { prompt: { description: 'P' }, description: { description: specified.label } } } })
})

it('gives the child its persona, its prompt unchanged, no message of the parent, and only the filtered tools', async () => {
  await using app = await App.start([{ provider: 'spawn', persona: 'You are a librarian.', toolFilter: { allow: ['look_up'] } }], { agent: { persona: 'You are the boss.' } })
  for (const name of ['look_up', 'burn_down']) {
    app.ctx.tools.register(defineTool({ name, description: name, parameters: Type.Object({}), execute: () => name }))
  }
  delegateOnce(app.endpoint, { text: 'All I know.' })
  await app.agent().run(parentTask)

  const child = app.endpoint.requests.find(request => !isParent(request))!
  expect(child.body.messages).toEqual([
    { role: 'system', content: `You are a librarian.\n\nWorking directory: ${process.cwd()}` },
    { role: 'user', content: childPrompt },
  ])
  expect(toolsOf(child)).toEqual(['look_up'])
  expect(app.endpoint.requests[0]!.body.messages[0]!.content).toMatch(/^You are the boss\./)
  expect(toolsOf(app.endpoint.requests[0]!)).toEqual(['burn_down', 'look_up', 'subagent', ...taskTools])
})

it('answers the parent with exactly the child\'s final text, and sends its call again as the model made it', async () => {
  await using app = await App.start()
  const args = `{ "prompt": ${JSON.stringify(childPrompt)},\n  "description": "odd  spacing" }`
  app.endpoint.respond(request => {
    if (!isParent(request)) return { text: ['  The answer', ' is\n\n42. '] }
    return lastMessage(request).role === 'tool' ? { text: 'Done.' } : { text: 'Let me ask.', calls: [{ id: 'call_7', name: 'subagent', arguments: args }] }
  })
  const result = await app.agent().run(parentTask)

  expect(result.output).toEqual([{ type: 'text', text: 'Done.' }])
  expect(messagesOf(app.endpoint.requests.filter(isParent)[1]!)).toEqual([
    { role: 'user', content: parentTask },
    { role: 'assistant', content: 'Let me ask.', tool_calls: [{ id: 'call_7', type: 'function', function: { name: 'subagent', arguments: args } }] },
    { role: 'tool', tool_call_id: 'call_7', content: '  The answer is\n\n42. ' },
  ])
})

it('keeps the child\'s steps out of the parent, and takes its last text', async () => {
  await using app = await App.start()
  app.ctx.tools.register(defineTool({ name: 'look_up', description: 'Looks up.', parameters: Type.Object({}), execute: () => 'on the shelf' }))
  delegateOnce(app.endpoint, (_request, index) => index === 0 ? { text: 'Looking.', calls: [{ name: 'look_up', arguments: {} }] } : { text: 'It is on the shelf.' })
  await app.agent().run(parentTask)

  const last = app.endpoint.requests.at(-1)!
  expect(lastMessage(last).content).toBe('It is on the shelf.')
  expect(last.text).not.toContain('Looking.')
  expect(last.text).not.toContain('look_up"}') // the call, not the tool that is offered
})

it('makes each request of an agent a byte-for-byte extension of the one before', async () => {
  await using app = await App.start()
  const steps = [
    { calls: [{ name: 'subagent', arguments: '{"description":"one", "prompt":"First."}' }] },
    { reasoning: 'Hm, two more.', text: 'And:', calls: [{ name: 'subagent', arguments: 'not json' }, { name: 'nothing', arguments: {} }] },
    { calls: [{ name: 'subagent', arguments: { description: 'three', prompt: 'Third.' } }] },
    { text: 'Done.' },
  ]
  let step = 0
  app.endpoint.respond(request => isParent(request) ? steps[step++]! : { text: `Child says ${lastMessage(request).content as string}` })
  const result = await app.agent().run(parentTask)

  expect(result.stopReason).toBe('completed')
  const parents = app.endpoint.requests.filter(isParent)
  expect(parents).toHaveLength(4)
  for (let i = 1; i < parents.length; i++) expect(extendsRequest(parents[i - 1]!, parents[i]!)).toBe(true)
  expect(parents[2]!.body.messages).toContainEqual(expect.objectContaining({ role: 'assistant', content: 'And:', reasoning_content: 'Hm, two more.' }))
  expect(parents[2]!.body.messages).toContainEqual(expect.objectContaining({ role: 'tool', content: expect.stringMatching(/^Error: the arguments of "subagent" are not a JSON object/) }))
})

it('orders the tools by name in every load order, and after a reload of the provider', async () => {
  const orders = [['b', 'c', 'a'], ['c', 'a', 'b'], ['a', 'b', 'c']]
  for (const order of orders) {
    await using app = await App.start(order.map(toolName => ({ provider: 'helper', toolName })))
    const mounted = app.ctx.plugin(spawn, { name: 'helper' })
    await settled(app.ctx)
    const agent = app.agent()
    await agent.run(parentTask)
    await mounted.restart()
    await settled(app.ctx)
    await agent.run('Again.')
    const [before, after] = app.endpoint.requests
    expect(toolsOf(before!)).toEqual(['a', 'b', 'c', ...taskTools])
    expect(extendsRequest(before!, after!)).toBe(true)
  }
})
