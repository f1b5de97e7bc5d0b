import ToolService, { defineTool, type Tool, type ToolGate, type ToolView } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { Context } from 'cordis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { gate as opened } from '../../../tests/gate.ts'

const exec = { callId: 'c1' }

interface App {
  readonly tools: ToolService
  readonly ran: string[]
  /** What the gate was asked. */
  readonly judged: string[]
}

function tool(name: string, ran: string[]): Tool {
  return defineTool({ name, description: name, parameters: Type.Object({ at: Type.Optional(Type.Integer()) }), effect: 'write', execute: () => { ran.push(name); return `${name} ran` } })
}

async function start(answer?: ToolGate): Promise<App> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(ToolService)
  const [ran, judged] = [[] as string[], [] as string[]]
  ctx.tools.register(tool('a', ran))
  if (answer) ctx.tools.core.gate = (...call) => {
    judged.push(call[0].name)
    return answer(...call)
  }
  return { tools: ctx.tools, ran, judged }
}

async function textOf(view: ToolView, name = 'a', args: Record<string, unknown> | undefined = {}, given: Parameters<ToolView['execute']>[2] = exec): Promise<string> {
  const { content: [block], isError } = await view.execute(name, args, given)
  return `${isError ? 'refused' : 'answered'}: ${block?.type === 'text' ? block.text : ''}`
}

describe('a gate', () => {
  it('that says nothing lets the call run, at once or later', async () => {
    for (const answer of [() => undefined, () => Promise.resolve(undefined)]) {
      const { tools, ran, judged } = await start(answer)
      expect(await textOf(tools.view())).toBe('answered: a ran')
      expect([ran, judged]).toEqual([['a'], ['a']])
    }
  })

  it('that says why refuses the call, at once or later: the model reads its words', async () => {
    for (const answer of [() => 'not today', () => Promise.resolve('not today')]) {
      const { tools, ran } = await start(answer)
      expect(await textOf(tools.view())).toBe('refused: Error: not today')
      expect(ran).toEqual([])
    }
  })

  it('that fails refuses the call', async () => {
    for (const answer of [() => { throw new Error('broken gate') }, () => Promise.reject(new Error('broken gate'))]) {
      const { tools, ran } = await start(answer)
      expect(await textOf(tools.view())).toBe('refused: Error: broken gate')
      expect(ran).toEqual([])
    }
  })

  it('is asked with the tool, its arguments and its surroundings', async () => {
    const asked: unknown[] = []
    const { tools } = await start((...call) => { asked.push(...call); return undefined })
    const { signal } = new AbortController()
    await tools.view().execute('a', { at: 1 }, { callId: 'c7', signal })
    expect(asked).toEqual([tools.core.tools.get('a'), { at: 1 }, { callId: 'c7', signal }])
    expect(asked[0]).toMatchObject({ name: 'a', effect: 'write' })
  })

  it('is not asked of a call that could not run: unknown, not JSON, or with arguments that do not fit', async () => {
    const { tools, judged } = await start(() => 'not today')
    expect(await textOf(tools.view(), 'zzz')).toMatch(/^refused: Error: unknown tool "zzz"/)
    expect((await tools.view().execute('a', undefined, exec)).content).toMatchObject([{ text: expect.stringContaining('are not a JSON object') }])
    expect(await textOf(tools.view(), 'a', { at: 'x' })).toMatch(/^refused: Error: invalid arguments for "a"/)
    expect(judged).toEqual([])
  })

  it('is asked whatever view the call comes through: all tools, a filter\'s, an agent\'s own', async () => {
    const { tools, ran, judged } = await start(() => 'not today')
    const views = [tools.view(), tools.view({ allow: ['a'] }), tools.view({ allow: [] }, [tool('a', ran)])]
    for (const view of views) expect(await textOf(view)).toBe('refused: Error: not today')
    expect([ran, judged]).toEqual([[], ['a', 'a', 'a']])
  })

  it('holds as soon as it is there, and no longer, also for a view made before', async () => {
    const { tools } = await start()
    const view = tools.view()
    expect(await textOf(view)).toBe('answered: a ran')
    tools.core.gate = () => 'not today'
    expect(await textOf(view)).toBe('refused: Error: not today')
    tools.core.gate = undefined
    expect(await textOf(view)).toBe('answered: a ran')
  })

  it('whose yes comes after the turn has ended lets nothing run', async () => {
    const door = opened()
    const controller = new AbortController()
    const { tools, ran } = await start(async () => { await door.opened; return undefined })
    const result = textOf(tools.view(), 'a', {}, { ...exec, signal: controller.signal })
    controller.abort()
    door.open()
    expect(await result).toBe('refused: Error: the call was cancelled before it ran')
    expect(ran).toEqual([])
  })
})
