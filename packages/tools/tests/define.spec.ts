import { defineTool, parseArguments, ToolError } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { describe, expect, expectTypeOf, it } from 'vitest'

const parameters = Type.Object({
  path: Type.String({ minLength: 1, description: 'where' }),
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
  tags: Type.Optional(Type.Array(Type.Object({ key: Type.String() }))),
})

function tool(name = 'look') {
  return defineTool({
    name, description: 'Look at it.', parameters,
    execute(args) {
      expectTypeOf(args.limit).toEqualTypeOf<number | undefined>()
      return args.path
    },
  })
}

describe('defineTool', () => {
  it('is exclusive and of no stated effect unless told otherwise', () => {
    expect(tool()).toMatchObject({ name: 'look', concurrency: 'exclusive' })
    expect(tool()).not.toHaveProperty('effect')
    const stated = defineTool({ name: 'x', description: '', parameters, concurrency: 'parallel', effect: 'read', execute: () => '' })
    expect(stated).toMatchObject({ concurrency: 'parallel', effect: 'read' })
  })

  it('makes the request form once: plain JSON Schema, frozen to the bottom', () => {
    const { spec } = tool()
    expect(spec).toEqual({
      type: 'function', name: 'look', description: 'Look at it.',
      inputSchema: {
        type: 'object', required: ['path'],
        properties: {
          path: { type: 'string', minLength: 1, description: 'where' },
          limit: { type: 'integer', minimum: 1 },
          tags: { type: 'array', items: { type: 'object', required: ['key'], properties: { key: { type: 'string' } } } },
        },
      },
    })
    expect(Object.getOwnPropertySymbols(spec.inputSchema)).toEqual([])
    expect(Object.isFrozen(spec)).toBe(true)
    expect(Object.isFrozen(spec.inputSchema.properties?.['path'])).toBe(true)
  })

  it.each(['', 'has space', 'ünïcode', 'a.b', 'x'.repeat(65)])('refuses the name %j, which endpoints do not accept', name => {
    expect(() => tool(name)).toThrow(new ToolError('INVALID_TOOL', `tool name "${name}" must be 1 to 64 letters, digits, "_" or "-"`))
  })

  it.each(['a', 'read_file', 'A-1', 'x'.repeat(64)])('accepts the name %j', name => {
    expect(tool(name).name).toBe(name)
  })

  it.each([
    [{ path: 'a' }, undefined],
    [{ path: 'a', limit: 3, more: true }, undefined],
    [{}, 'path: expected required property'],
    [{ path: 1 }, 'path: expected string'],
    [{ path: '' }, 'path: expected string length greater or equal to 1'],
    [{ path: 'a', limit: 0 }, 'limit: expected integer to be greater or equal to 1'],
    [{ path: 'a', tags: [{ key: 'k' }, { key: 2 }] }, 'tags.1.key: expected string'],
    [{ path: 1, limit: 'x' }, 'path: expected string; limit: expected integer'],
    ['text', 'arguments: expected object'],
  ])('says of the arguments %j: %s', (args, sentence) => {
    expect(tool().check(args)).toBe(sentence)
  })

  it('names at most five misfits', () => {
    const tags = Array.from({ length: 9 }, () => ({ key: 1 }))
    expect(tool().check({ path: 'a', tags })?.split('; ')).toHaveLength(5)
  })
})

describe('parseArguments', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['', {}],
    [' \n', {}],
    ['{"a":', undefined],
    ['[1]', undefined],
    ['null', undefined],
    ['"text"', undefined],
    ['7', undefined],
  ])('reads %j as %j', (input, args) => {
    expect(parseArguments(input)).toEqual(args)
  })
})
