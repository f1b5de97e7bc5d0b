import { describe, expect, it } from 'vitest'
import { nearest, suggest } from '../src/index.ts'

describe('nearest()', () => {
  const names = ['provider', 'toolName', 'persona', 'maxDepth']

  it.each([
    ['a letter too few', 'provder', 'provider'],
    ['a letter too many', 'personna', 'persona'],
    ['another letter', 'maxDepht', 'maxDepth'],
    ['neighbours swapped', 'provdier', 'provider'],
    ['another case', 'TOOLNAME', 'toolName'],
    ['the very name', 'persona', 'persona'],
  ])('finds a name with %s', (_, name, meant) => {
    expect(nearest(name, names)).toBe(meant)
  })

  it('finds nothing where more than a third of the letters would have to change', () => {
    expect(nearest('timeout', names)).toBeUndefined()
    expect(nearest('abcdef', ['abcxyz'])).toBeUndefined()
    expect(nearest('abcdef', ['abcdxy'])).toBe('abcdxy')
  })

  it('finds nothing for a name that would have to change altogether', () => {
    expect(nearest('a', ['b'])).toBeUndefined()
    expect(nearest('', ['a'])).toBeUndefined()
    expect(nearest('ab', ['ac'])).toBe('ac')
  })

  it('takes the closest, and of two equally close ones the first', () => {
    expect(nearest('main', ['mains', 'mail', 'main-2'])).toBe('mains')
    expect(nearest('main', ['rain', 'main'])).toBe('main')
    expect(nearest('main', [])).toBeUndefined()
  })
})

describe('suggest()', () => {
  it('ends a sentence with what was probably meant and what there is', () => {
    expect(`unknown model "mian"${suggest('mian', ['main', 'cheap'], 'models')}`).toBe('unknown model "mian"; did you mean "main"? (models: cheap, main)')
  })

  it('only says what there is where nothing is close', () => {
    expect(suggest('opus', ['main', 'cheap'], 'models')).toBe(' (models: cheap, main)')
    expect(suggest('opus', [], 'models')).toBe(' (models: none)')
  })
})
