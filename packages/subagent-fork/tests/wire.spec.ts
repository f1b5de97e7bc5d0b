import { extendsRequest, messagesOf, toolsOf } from '@offshoot/model-ai-sdk/testing'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { rolePin } from '../src/wording.ts'
import { App, delegate, isChild, isPin, lastOf, repeats } from './support.ts'

/** Two turns: one that looks something up, one that just talks. Then one that looks up, delegates `Sum it up.` and answers. */
async function converse(app: App, agent = app.agent()): Promise<void> {
  const look = { reasoning: 'Hm.', text: 'Let me look.', calls: [{ name: 'look_up', arguments: '{ }' }] }
  const replies = [look, { text: 'First answer.' }, { text: 'Second answer.' }, look, { calls: [delegate()] }, { text: 'Third answer.' }]
  app.script(request => isChild(request) ? { text: 'The sum.' } : replies.shift()!)
  for (const prompt of ['First.', 'Second.', 'Third.']) expect((await agent.run(prompt)).stopReason).toBe('completed')
}

function askedLast(request: Parameters<typeof messagesOf>[0]): unknown {
  return messagesOf(request).findLast(({ role }) => role === 'user')?.content
}

describe('with seed "turns"', () => {
  it('repeats the parent\'s request up to the turn under way byte for byte, then tells the child whose turn it is, and its task', async () => {
    await using app = await App.start()
    await converse(app)
    const [child] = app.children
    const secondTurn = app.parents.find(request => askedLast(request) === 'Second.')!
    const thirdTurn = app.parents.findLast(request => askedLast(request) === 'Third.')!
    expect(extendsRequest(secondTurn, child!)).toBe(true)
    const shared = child!.body.messages.length - 1
    expect(repeats(child!, thirdTurn, shared)).toBe(true)
    expect({ ...child!.body, messages: [] }).toEqual({ ...thirdTurn.body, messages: [] })
    expect(thirdTurn.body.messages[shared]).toEqual({ role: 'user', content: 'Third.' })
    expect(lastOf(child!)).toEqual({ role: 'user', content: `${rolePin}\n\nSum it up.` })
    expect(child!.body.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user', 'assistant', 'user'])
  })

  it('sends back the parent\'s reasoning, and its calls\' arguments as the model wrote them', async () => {
    await using app = await App.start()
    await converse(app)
    expect(messagesOf(app.children[0]!)[1]).toMatchObject({
      role: 'assistant', content: 'Let me look.', reasoning_content: 'Hm.', tool_calls: [{ function: { name: 'look_up', arguments: '{ }' } }],
    })
  })

  it('says so in two fixed sentences', () => {
    expect(rolePin.match(/[.!?](?: |$)/g)).toHaveLength(2)
  })

  it('gives the parent exactly the child\'s final text, and goes on from its own log', async () => {
    await using app = await App.start()
    await converse(app)
    const last = app.parents.at(-1)!
    expect(lastOf(last)).toMatchObject({ role: 'tool', content: 'The sum.' })
    expect(extendsRequest(app.parents.at(-2)!, last)).toBe(true)
    expect(last.text).not.toContain(rolePin)
  })

  it('starts with nothing but its task while the parent is in its first turn', async () => {
    await using app = await App.start()
    app.script(request => isChild(request) ? { text: 'Done.' } : lastOf(request).role === 'tool' ? { text: 'Fine.' } : { calls: [delegate()] })
    await app.agent().run('First.')
    expect(app.children[0]!.body.messages.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(app.started[0]!.seed).toEqual({ turns: 0, steps: 0, moved: [], coldCache: false })
  })
})

describe('with seed "steps"', () => {
  it('repeats the parent\'s latest request byte for byte and whole: all that came before the message with the call', async () => {
    await using app = await App.start({ seed: 'steps' })
    await converse(app)
    const [child] = app.children
    const delegating = app.parents.at(-2)!
    expect(lastOf(delegating)).toMatchObject({ role: 'tool', content: 'look_up: on the shelf' })
    expect(extendsRequest(delegating, child!)).toBe(true)
    expect(child!.body.messages).toHaveLength(delegating.body.messages.length + 1)
    expect(isPin(lastOf(child!))).toBe(true)
    expect(app.started[0]!.seed).toEqual({ turns: 2, steps: 1, moved: [], coldCache: false })
  })

  it('in the first step inherits what the user asked, and no step', async () => {
    await using app = await App.start({ seed: 'steps' })
    app.script(request => isChild(request) ? { text: 'Done.' } : lastOf(request).role === 'tool' ? { text: 'Fine.' } : { calls: [delegate()] })
    await app.agent().run('First.')
    expect(messagesOf(app.children[0]!)).toEqual([{ role: 'user', content: 'First.' }, { role: 'user', content: `${rolePin}\n\nSum it up.` }])
    expect(app.started[0]!.seed).toEqual({ turns: 0, steps: 0, moved: [], coldCache: false })
  })

  it('words the tool by what the child really sees; with seed "turns" it has the standard words', async () => {
    const texts = await Promise.all((['turns', 'steps'] as const).map(async seed => {
      await using app = await App.start({ seed, tool: { enableRunInBackground: false } })
      await app.agent().run('First.')
      const { description, parameters } = app.endpoint.requests[0]!.body.tools!.find(tool => tool.function.name === 'subagent')!.function
      return `${description}\n${(parameters.properties as Record<'prompt', { description: string }>).prompt.description}`
    }))
    expect(texts[0]).toContain('(it does not see the current in-flight turn)')
    expect(texts[1]).toContain('the completed steps of the current turn')
    expect(texts[1]).not.toContain('in-flight')
  })
})

describe.each(['turns', 'steps'] as const)('a fork, with seed "%s",', seed => {
  it('makes each of its requests an extension of the one before, after its own steps too', async () => {
    await using app = await App.start({ seed })
    let childStep = 0
    app.script(request => {
      if (isChild(request)) return childStep++ === 0 ? { text: 'Looking.', calls: [{ name: 'look_again', arguments: {} }] } : { text: 'Seen.' }
      return lastOf(request).role === 'tool' || lastOf(request).content === 'First.' ? { text: 'Fine.' } : { calls: [delegate()] }
    })
    const agent = app.agent()
    await agent.run('First.')
    await agent.run('Second.')
    expect(app.children).toHaveLength(2)
    expect(extendsRequest(app.children[0]!, app.children[1]!)).toBe(true)
    expect(extendsRequest(app.parents[0]!, app.children[1]!)).toBe(true)
  })

  it('is taken at the moment of the call: what the parent does afterwards is not in it', async () => {
    await using app = await App.start({ seed })
    const parent = app.agent()
    app.script(() => ({ text: 'ok' }))
    await parent.run('First.')
    const starting = app.ctx.subagents.start('fork', { prompt: 'Sum it up.', parent, signal: new AbortController().signal })
    await parent.run('Meanwhile.')
    await using run = await starting
    expect((await run.result).stopReason).toBe('completed')
    expect(messagesOf(app.children[0]!).map(({ content }) => content)).toEqual(['First.', 'ok', `${rolePin}\n\nSum it up.`])
  })

  it('that runs in the background is taken at the call too, before the message that makes it', async () => {
    await using app = await App.start({ seed })
    const parent = app.agent()
    await parent.run('First.')
    const replies = [
      { calls: [{ name: 'look_up', arguments: {} }] },
      { calls: [{ name: 'look_again', arguments: {} }, { name: 'subagent', arguments: { description: 'later', prompt: 'Sum it up.', run_in_background: true } }] },
      { calls: [{ name: 'look_up', arguments: {} }] },
    ]
    app.script(request => isChild(request) ? { text: 'The sum.' } : replies.shift() ?? { text: 'Fine.' })
    await parent.runToQuiet('Second.')
    expect(app.children).toHaveLength(1)
    expect(extendsRequest(app.parents[seed === 'turns' ? 0 : 2]!, app.children[0]!)).toBe(true)
    expect(app.children[0]!.body.messages).toHaveLength(seed === 'turns' ? 4 : 7)
    expect(app.started[0]!.seed).toEqual({ turns: 1, steps: seed === 'turns' ? 0 : 1, moved: [], coldCache: false })
  })

  it('can use the tools that it inherited, the parent\'s own ones too', async () => {
    await using app = await App.start({ seed })
    const own = defineTool({ name: 'own_tool', description: 'Its own.', parameters: Type.Object({}), execute: (_args, { agent }) => `own, at depth ${agent!.depth}` })
    app.script(request => {
      if (!isChild(request)) return lastOf(request).role === 'tool' ? { text: 'Fine.' } : { calls: [delegate()] }
      return lastOf(request).role === 'tool' ? { text: lastOf(request).content as string } : { calls: [{ name: 'own_tool', arguments: {} }] }
    })
    await app.agent({ tools: [own] }).run('First.')
    expect(lastOf(app.parents.at(-1)!).content).toBe('own, at depth 1')
  })

  it('of an idle parent begins with the whole log', async () => {
    await using app = await App.start({ seed })
    const parent = app.agent()
    await parent.run('First.')
    await parent.run('Second.')
    await using run = await app.ctx.subagents.start('fork', { prompt: 'Sum it up.', parent, signal: new AbortController().signal })
    await run.result
    expect(extendsRequest(app.parents[1]!, app.children[0]!)).toBe(true)
    expect(app.children[0]!.body.messages).toHaveLength(app.parents[1]!.body.messages.length + 2)
    expect(app.started[0]!.seed).toEqual({ turns: 2, steps: 0, moved: [], coldCache: false })
  })

  it('has what the parent has of its own: persona, filter and tools', async () => {
    await using app = await App.start({ seed, runtime: { agent: { model: 'main', persona: 'You are the app.' } } })
    const own = defineTool({ name: 'own_tool', description: 'Its own.', parameters: Type.Object({}), execute: () => 'own' })
    const parent = app.agent({ persona: 'You are a heron.', toolFilter: { deny: ['look_again'] }, tools: [own] })
    await converse(app, parent)
    const [child] = app.children
    expect(child!.body.messages[0]!.content).toMatch(/^You are a heron\./)
    expect(toolsOf(child!)).toEqual(['look_up', 'own_tool', 'subagent', 'task_kill', 'task_list', 'task_output'])
    expect(extendsRequest(app.parents[0]!, child!)).toBe(true)
    expect(app.started[0]!.seed?.moved).toEqual([])
  })

  it('takes a prompt of blocks after its two sentences', async () => {
    await using app = await App.start({ seed })
    await using run = await app.ctx.subagents.start('fork', {
      prompt: [{ type: 'text', text: 'Look:' }, { type: 'file', data: 'aGk=', mediaType: 'image/png' }], parent: app.agent(), signal: new AbortController().signal,
    })
    await run.result
    expect(messagesOf(app.endpoint.requests[0]!)[0]!.content).toEqual([
      { type: 'text', text: `${rolePin}\n\n` },
      { type: 'text', text: 'Look:' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
    ])
  })
})
