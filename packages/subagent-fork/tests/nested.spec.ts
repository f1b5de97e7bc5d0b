import { extendsRequest, toolsOf } from '@offshoot/model-ai-sdk/testing'
import { describe, expect, it } from 'vitest'
import { rolePin } from '../src/wording.ts'
import { App, delegate, isChild, isPin, lastOf, repeats } from './support.ts'

describe('a fork of a fork', () => {
  /** The root and its child each delegate once, in their second turn and their first. */
  async function nest(app: App): Promise<void> {
    app.script(request => {
      const { role, content } = lastOf(request)
      if (role === 'tool') return { text: `Heard: ${content as string}` }
      if (content === 'First.') return { text: 'First answer.' }
      if (content === 'Second.') return { calls: [delegate('Go deeper.')] }
      return isPin(lastOf(request)) && (content as string).endsWith('Go deeper.') ? { calls: [delegate('Be the deepest.')] } : { text: 'The bottom.' }
    })
    const agent = app.agent()
    await agent.run('First.')
    await agent.run('Second.')
    expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual(['completed', 'completed'])
  }

  it('with seed "turns" begins where its parent did, and knows nothing of its parent\'s task', async () => {
    await using app = await App.start()
    await nest(app)
    const [child, grandchild] = app.children
    expect(repeats(grandchild!, child!, child!.body.messages.length - 1)).toBe(true)
    expect(grandchild!.body.messages).toHaveLength(child!.body.messages.length)
    expect(lastOf(grandchild!).content).toBe(`${rolePin}\n\nBe the deepest.`)
    expect(app.started.map(({ depth, seed }) => [depth, seed])).toEqual([[1, { turns: 1, steps: 0, moved: [], coldCache: false }], [2, { turns: 1, steps: 0, moved: [], coldCache: false }]])
  })

  it('with seed "steps" extends its parent\'s latest request', async () => {
    await using app = await App.start({ seed: 'steps' })
    await nest(app)
    const [child, grandchild] = app.children
    expect(extendsRequest(app.parents[1]!, child!)).toBe(true)
    expect(extendsRequest(child!, grandchild!)).toBe(true)
    expect(app.ended[0]![1].output).toEqual([{ type: 'text', text: 'The bottom.' }])
  })

  it.each(['turns', 'steps'] as const)('beyond the depth limit is refused in words that the child reads, with seed "%s"', async seed => {
    await using app = await App.start({ seed, runtime: { agent: { model: 'main' }, subagents: { maxDepth: 1 } } })
    app.script(request => {
      const { role, content } = lastOf(request)
      if (role !== 'tool') return { calls: [delegate('Go deeper.')] }
      return { text: isChild(request) ? `It said: ${content as string}` : 'Fine.' }
    })
    expect((await app.agent().run('First.')).stopReason).toBe('completed')
    expect(app.started.map(({ depth }) => depth)).toEqual([1])
    expect(lastOf(app.children.at(-1)!)).toMatchObject({
      role: 'tool', content: 'Error: a child would be at delegation depth 2, and the limit is 1 (maxDepth); do the task yourself',
    })
    expect(toolsOf(app.children[0]!)).toContain('subagent')
    expect(lastOf(app.parents.at(-1)!).content).toMatch(/^It said: Error: /)
  })

  it('is refused beyond the stricter limit of its tool, too', async () => {
    await using app = await App.start({ tool: { maxDepth: 2 } })
    app.script(request => lastOf(request).role === 'tool' ? { text: 'Fine.' } : { calls: [delegate('Go deeper.')] })
    await app.agent().run('First.')
    expect(app.started.map(({ depth }) => depth)).toEqual([1, 2])
  })
})
