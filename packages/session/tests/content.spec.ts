import { describe, expect, it } from 'vitest'
import { type ContentBlock, promptBlocks, textOf } from '../src/index.ts'

describe('textOf', () => {
  it('is the text of the text blocks, as one', () => {
    expect(textOf([{ type: 'reasoning', text: 'why' }, { type: 'text', text: 'one ' }, { type: 'file', data: 'aGk=', mediaType: 'text/plain' }, { type: 'text', text: 'two' }])).toBe('one two')
    expect(textOf([])).toBe('')
  })
})

describe('promptBlocks', () => {
  it('makes text one block, unchanged', () => {
    expect(promptBlocks(' as it is\n')).toEqual([{ type: 'text', text: ' as it is\n' }])
  })

  it('is frozen through and through, and leaves what it was given alone', () => {
    const own: ContentBlock = { type: 'text', text: 'mine' }
    const blocks = promptBlocks([own])
    expect([Object.isFrozen(promptBlocks('x')), Object.isFrozen(blocks), Object.isFrozen(blocks[0])]).toEqual([true, true, true])
    expect(blocks).toEqual([own])
    expect(Object.isFrozen(own)).toBe(false)
  })

  it('shares a block that is frozen already', () => {
    const block: ContentBlock = Object.freeze({ type: 'text', text: 'shared' })
    expect(promptBlocks([block])[0]).toBe(block)
  })
})
