import { checkFilter, defineTool, type Tool, ToolError, type ToolFilter, type ToolOutput, ToolView } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'

const exec = { callId: 'c1' }

function tool(name: string, execute: () => ToolOutput | Promise<ToolOutput> = () => `${name} ran`) {
  return defineTool({ name, description: name, parameters: Type.Object({ at: Type.Optional(Type.Integer()) }), execute })
}

const [a, b, c] = [tool('a'), tool('b'), tool('c')]

function names(filter?: ToolFilter, own?: readonly Tool[]) {
  return new ToolView([c, a, b], filter, own).names()
}

describe('what a view shows', () => {
  it('is everything without a filter', () => {
    expect(names()).toEqual(['a', 'b', 'c'])
  })

  it('is what allow names', () => {
    expect(names({ allow: ['c', 'a'] })).toEqual(['a', 'c'])
  })

  it('is nothing with allow: []', () => {
    expect(names({ allow: [] })).toEqual([])
  })

  it('is all but what deny names', () => {
    expect(names({ deny: ['b'] })).toEqual(['a', 'c'])
    expect(names({ deny: [] })).toEqual(['a', 'b', 'c'])
  })

  it('is what allow names less what deny names', () => {
    expect(names({ allow: ['a', 'b'], deny: ['b'] })).toEqual(['a'])
  })

  it('leaves out what a filter names and nobody offers', () => {
    expect(names({ allow: ['a', 'nowhere'] })).toEqual(['a'])
  })

  it('includes the own tools of an agent, which no filter touches', () => {
    expect(names({ allow: [] }, [tool('own')])).toEqual(['own'])
    expect(names({ deny: ['own'] }, [tool('own')])).toEqual(['a', 'b', 'c', 'own'])
  })

  it('prefers an own tool to a global one of its name', async () => {
    const view = new ToolView([a, b], undefined, [tool('a', () => 'own a')])
    expect(view.names()).toEqual(['a', 'b'])
    expect(await view.execute('a', {}, exec)).toMatchObject({ content: [{ text: 'own a' }] })
  })

  it('is in order of names, whatever the load order, and so are the request specs', () => {
    const orders = [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]]
    for (const order of orders) {
      const { specs } = new ToolView(order)
      expect(specs).toEqual([a.spec, b.spec, c.spec])
      expect(Object.isFrozen(specs)).toBe(true)
      expect(specs.every((spec, at) => spec === [a, b, c][at]!.spec)).toBe(true)
    }
  })
})

describe('a call', () => {
  it('answers text as one frozen text block', async () => {
    const result = await new ToolView([a]).execute('a', {}, exec)
    expect(result).toEqual({ content: [{ type: 'text', text: 'a ran' }], isError: false })
    expect(Object.isFrozen(result.content)).toBe(true)
  })

  it('answers blocks as they are', async () => {
    const picture = { type: 'file', data: 'aGk=', mediaType: 'image/png' } as const
    expect(await new ToolView([tool('a', () => [picture])]).execute('a', {}, exec)).toEqual({ content: [picture], isError: false })
  })

  it('hands the tool its arguments and its surroundings', async () => {
    const seen: unknown[] = []
    const signal = new AbortController().signal
    const spy = defineTool({
      name: 'spy', description: '', parameters: Type.Object({ at: Type.Integer() }),
      execute: (args, given) => {
        seen.push(args, given)
        return ''
      },
    })
    const given = { callId: 'c7', signal }
    await new ToolView([spy]).execute('spy', { at: 3 }, given)
    expect(seen).toEqual([{ at: 3 }, given])
  })

  const failing: [string, () => ToolOutput | Promise<ToolOutput>, string][] = [
    ['a tool that throws', () => { throw new TypeError('no such thing') }, 'Error: no such thing'],
    ['a tool that rejects', () => Promise.reject(new Error('later')), 'Error: later'],
    ['an error without a message', () => { throw new RangeError() }, 'Error: RangeError'],
    ['a thrown string', () => { throw 'plain' }, 'Error: plain'],
    ['a rejection without a value', () => Promise.reject(), 'Error: undefined'],
    ['a thrown value without text', () => { throw Object.create(null) }, 'Error: the tool threw a value that has no text'],
  ]

  it.each(failing)('makes a result of %s', async (_, execute, text) => {
    expect(await new ToolView([tool('a', execute)]).execute('a', {}, exec)).toEqual({ content: [{ type: 'text', text }], isError: true })
  })

  it('makes a result of a tool that answers neither text nor blocks', async () => {
    const odd = tool('a', () => undefined as never)
    expect(await new ToolView([odd]).execute('a', {}, exec)).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/^Error: /) }] })
  })

  it('does not reach a tool with arguments that do not fit', async () => {
    const untouched = tool('a', () => { throw new Error('reached') })
    const view = new ToolView([untouched])
    expect(await view.execute('a', { at: 'x' }, exec)).toEqual({
      isError: true, content: [{ type: 'text', text: 'Error: invalid arguments for "a": at: expected integer' }],
    })
    expect(await view.execute('a', undefined, exec)).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'Error: the arguments of "a" are not a JSON object; send the call again with valid JSON' }],
    })
  })

  it('of a hidden tool is refused like one that does not exist, and no suggestion gives it away', async () => {
    const secret = tool('secret_tool')
    const view = new ToolView([a, secret], { deny: ['secret_tool'] })
    expect(view.get('secret_tool')).toBeUndefined()
    for (const [name, said] of [['secret_tool', 'secret_tool'], ['secret_tol', 'secret_tol']] as const) {
      expect(await view.execute(name, {}, exec)).toEqual({
        isError: true, content: [{ type: 'text', text: `Error: unknown tool "${said}" (tools: a)` }],
      })
    }
  })

  it('of a misspelt name gets the nearest visible one', async () => {
    const view = new ToolView([tool('read_file'), tool('write_file')])
    expect(await view.execute('read_fil', {}, exec)).toMatchObject({
      content: [{ text: 'Error: unknown tool "read_fil"; did you mean "read_file"? (tools: read_file, write_file)' }],
    })
  })
})

describe('checkFilter', () => {
  it('refuses a filter with neither key', () => {
    expect(() => checkFilter({})).toThrow(ToolError)
    expect(() => checkFilter({})).toThrow(expect.objectContaining({ code: 'EMPTY_FILTER' }))
  })

  it('accepts either key, empty or not', () => {
    for (const filter of [{ allow: [] }, { deny: [] }, { allow: ['a'], deny: ['b'] }]) expect(() => checkFilter(filter)).not.toThrow()
  })
})
