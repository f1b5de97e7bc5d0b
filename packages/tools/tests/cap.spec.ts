import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ContentBlock } from '@offshoot/session'
import ToolService, { capText, defineTool, minOutputBytes, SpillStore, type ToolResult } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { Context } from 'cordis'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

const runs = 100

/** A small generator of pseudo-random whole numbers below `n` (mulberry32), so that a failure can be run again by its seed. */
function random(seed: number): (n: number) => number {
  let state = seed
  return n => {
    state = state + 0x6D2B79F5 | 0
    let t = Math.imul(state ^ state >>> 15, 1 | state)
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t
    return Math.floor(((t ^ t >>> 14) >>> 0) / 2 ** 32 * n)
  }
}

/** Text of about `length` characters, of one to four bytes each. */
function anyText(below: (n: number) => number, length: number): string {
  const characters = [['a', 'b', '\n'], ['é', 'x'], ['€', '\r\n'], ['😀', 'é', 'z', '\n'], ['\u0000', '"', '\uFEFF']][below(5)]!
  return Array.from({ length }, () => characters[below(characters.length)]).join('')
}

function newStore(maxBytes = 1024 ** 3): SpillStore {
  const store = new SpillStore(maxBytes)
  onTestFinished(() => { store.dispose() })
  return store
}

interface Cut { readonly head: string, readonly cut: number, readonly id: string, readonly tail: string }

function cutOf(text: string): Cut {
  const [, head, cut, id, tail] = /^(.*?)\n\[(\d+) bytes cut here; the whole output: .*?spill:(\w{16})[^\n]*\]\n(.*)$/s.exec(text) ?? expect.fail(`not cut: ${text}`)
  return { head: head!, cut: Number(cut), id: id!, tail: tail! }
}

const bytes = (text: string): number => Buffer.byteLength(text)
const kept = (store: SpillStore, id: string): string => readFileSync(store.path(id)!, 'utf8')

describe('capText', () => {
  it('answers a text that fits as it is, to the byte, and keeps nothing of it', () => {
    const store = newStore()
    for (const text of ['', 'x'.repeat(600), '€'.repeat(200), '😀'.repeat(150)]) expect(capText(text, 600, store)).toBe(text)
    expect(vi.spyOn(store, 'open')).not.toHaveBeenCalled()
    expect(bytes(capText(`${'€'.repeat(200)}x`, 600, store))).toBeLessThanOrEqual(600)
  })

  it('answers at most maxBytes of any other: head, sentence and tail, no character split, the whole in a spill', () => {
    const store = newStore()
    for (let seed = 0; seed < runs; seed++) {
      const below = random(seed)
      const text = anyText(below, 600 + below(5000))
      const max = minOutputBytes + below(2000)
      const capped = capText(text, max, store)
      expect(bytes(capped), `seed ${seed}`).toBeLessThanOrEqual(max)
      if (bytes(text) <= max) {
        expect(capped).toBe(text)
        continue
      }
      const { head, cut, id, tail } = cutOf(capped)
      expect(text.startsWith(head) && text.endsWith(tail), `seed ${seed}`).toBe(true)
      expect(bytes(head) + cut + bytes(tail), `seed ${seed}`).toBe(bytes(text))
      expect(bytes(head) + bytes(tail), `seed ${seed}`).toBeGreaterThan(max - 256 - 10)
      expect(kept(store, id)).toBe(text)
    }
  })

  it('cuts what was cut before as it would have cut the whole, and points to the same spill', () => {
    for (let seed = 0; seed < runs; seed++) {
      const store = newStore()
      const below = random(seed)
      const text = anyText(below, 3000 + below(3000))
      const max = minOutputBytes + below(800)
      const before = capText(text, max + 300 + below(500), store)
      const open = vi.spyOn(store, 'open')
      const capped = capText(before, max, store)
      expect(open, `seed ${seed}`).not.toHaveBeenCalled()
      expect(capped, `seed ${seed}`).toBe(capText(text, max, store))
    }
  })

  it('is not misled by a text that quotes such a sentence: it is kept, whole', () => {
    const store = newStore()
    const quoted = capText('a'.repeat(2000), 1000, store)
    const { id, cut, head, tail } = cutOf(quoted)
    const sentence = quoted.slice(head.length, -tail.length)
    const texts = [
      `${'b'.repeat(600)}${sentence}${'b'.repeat(600)}`,
      // As many bytes as the quoted one, so that the count is right.
      `${'b'.repeat(head.length)}${sentence}${tail}`,
      `${head}${sentence}${'b'.repeat(tail.length)}`,
    ]
    expect(cut).toBe(2000 - head.length - tail.length)
    for (const text of texts) {
      const again = cutOf(capText(text, 600, store))
      expect(again.id).not.toBe(id)
      expect(kept(store, again.id)).toBe(text)
    }
  })

  it('keeps what a spill holds only in part once more', () => {
    const store = newStore(5000)
    const open = store.open()
    open.write(Buffer.alloc(3000))
    const partly = capText('a'.repeat(2500), 1000, store)
    expect(partly).toContain('they could not be kept: outputs under way fill all 5000 bytes (maxSpillBytes)')
    open.close()
    expect(kept(store, cutOf(capText(partly, 600, store)).id)).toBe(partly)
  })

  it('makes the best of a limit that is too small for its sentence', () => {
    expect(bytes(capText('a'.repeat(5000), 1, newStore()))).toBeLessThanOrEqual(minOutputBytes)
  })

  it('cuts the same text to the same text, in another app too', () => {
    const text = 'abc'.repeat(1000)
    expect(capText(text, 1000, newStore())).toBe(capText(text, 1000, newStore()))
  })
})

const answer = (...content: (string | ContentBlock)[]): ToolResult => ({
  content: content.map(block => typeof block === 'string' ? { type: 'text', text: block } : block), isError: false,
})
const image: ContentBlock = { type: 'file', data: 'A'.repeat(100_000), mediaType: 'image/png' }

async function app(config: Partial<ToolService.Config> = {}, readFile = true) {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(ToolService, config)
  const tool = (name: string, maxOutputBytes?: number) => defineTool({ name, description: name, parameters: Type.Object({}), maxOutputBytes, execute: () => '' })
  for (const each of [tool('plain'), tool('small', 600), tool('large', 200_000), ...readFile ? [tool('read_file')] : []]) ctx.tools.register(each)
  const { output, spills } = ctx.tools.core
  const view = ctx.tools.view()
  return { output, spills, view, result: (result: ToolResult, name = 'plain') => output.result(result, name, view), step: (results: ToolResult[]) => output.step(results, view) }
}

function textOf({ content }: ToolResult): string {
  return content.map(block => block.type === 'text' ? block.text : '').join('\n')
}

describe('a result', () => {
  it('that fits is the same object, and costs nothing', async () => {
    const { result, spills } = await app()
    const small = answer('x'.repeat(100_000))
    const byteLength = vi.spyOn(Buffer, 'byteLength')
    expect(result(answer('x'.repeat(33_000)))).toBeDefined()
    expect(byteLength).not.toHaveBeenCalled()
    byteLength.mockRestore()
    expect(result(small)).toBe(small)
    expect(vi.spyOn(spills, 'open')).not.toHaveBeenCalled()
  })

  it.each([
    ['plain', {}, 100_000], ['small', {}, 600], ['large', {}, 200_000], ['unknown', {}, 100_000],
    ['plain', { maxOutputBytes: 5000 }, 5000], ['large', { maxOutputBytes: 5000 }, 200_000],
    ['plain', { maxStepOutputBytes: 5000 }, 5000], ['large', { maxStepOutputBytes: 5000 }, 5000],
  ])('of the tool %s, with the config %j, has at most %i bytes', async (name, config, max) => {
    const { result, spills } = await app(config)
    const text = 'x'.repeat(300_000)
    const capped = result(answer(text), name)
    expect(bytes(textOf(capped))).toBeGreaterThan(max - 300)
    expect(bytes(textOf(capped))).toBeLessThanOrEqual(max)
    expect(kept(spills, cutOf(textOf(capped)).id)).toBe(text)
    expect(Object.isFrozen(capped.content) && Object.isFrozen(capped.content[0])).toBe(true)
  })

  it('that is an error stays one, and begins as it did', async () => {
    const { result } = await app()
    expect(result({ ...answer(`Error: ${'x'.repeat(200_000)}`), isError: true })).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/^Error: xxx/) }] })
  })

  it('of several texts is cut as the one that a model reads, its lines joined', async () => {
    const { result, spills } = await app({ maxOutputBytes: 5000 })
    const capped = result(answer('a'.repeat(3000), 'b'.repeat(3000)))
    expect(capped.content).toHaveLength(1)
    expect(kept(spills, cutOf(textOf(capped)).id)).toBe(`${'a'.repeat(3000)}\n${'b'.repeat(3000)}`)
  })

  it('has its files uncut and uncounted, and the texts between them where they were', async () => {
    const { result, spills } = await app({ maxOutputBytes: 5000 })
    const fits = answer('a'.repeat(5000), image)
    expect(result(fits)).toBe(fits)
    const { content } = result(answer('short', image, 'b'.repeat(9000), image, 'c'.repeat(9000)))
    expect(content.map(({ type }) => type)).toEqual(['text', 'file', 'text', 'file', 'text'])
    expect([content[1], content[3]]).toEqual([image, image])
    const texts = content.flatMap(block => block.type === 'text' ? [block.text] : [])
    expect(texts[0]).toBe('short')
    expect(texts.slice(1).map(text => kept(spills, cutOf(text).id)[0])).toEqual(['b', 'c'])
    expect(bytes(texts.join('\n'))).toBeLessThanOrEqual(5000)
  })

  it('points to read_file only where the agent has it', async () => {
    const text = 'x'.repeat(200_000)
    const [having, lacking] = [await app(), await app({}, false)]
    const { id } = cutOf(textOf(having.result(answer(text))))
    expect(textOf(having.result(answer(text)))).toContain(`the whole output: read_file {"path": "spill:${id}"}]`)
    expect(textOf(lacking.result(answer(text)))).toContain(`the whole output: spill:${id}, which no tool of yours reads]`)
  })
})

describe('the results of one step', () => {
  it('that fit together are the same objects', async () => {
    const { step } = await app()
    const results = Array.from({ length: 4 }, (_, i) => answer(String(i).repeat(100_000)))
    for (const [i, result] of step(results).entries()) expect(result).toBe(results[i])
  })

  it('are within the limit together, in their order: the longest cut to one length, the others whole, every byte kept', async () => {
    const { step, spills } = await app({ maxStepOutputBytes: 20_000 })
    for (let seed = 0; seed < runs; seed++) {
      const below = random(seed)
      const texts = Array.from({ length: 1 + below(30) }, () => anyText(below, below(2) === 0 ? below(200) : below(4000)))
      const results = texts.map(text => answer(text))
      const capped = step(results)
      const sizes = capped.map(result => bytes(textOf(result)))
      const sum = sizes.reduce((a, b) => a + b, 0)
      expect(sum, `seed ${seed}`).toBeLessThanOrEqual(20_000)
      const cut = capped.flatMap((result, i) => result === results[i] ? [] : [{ size: sizes[i]!, text: texts[i]!, result }])
      const longestWhole = Math.max(0, ...capped.flatMap((result, i) => result === results[i] ? [sizes[i]!] : []))
      for (const { size, text, result } of cut) {
        expect(bytes(text), `seed ${seed}`).toBeGreaterThan(longestWhole)
        expect(size, `seed ${seed}`).toBeGreaterThan(longestWhole - 300)
        expect(kept(spills, cutOf(textOf(result)).id)).toBe(text)
      }
      // Nobody is cut without need, nor more than the sentence's room.
      expect(sum + cut.length * 300 >= 20_000 || cut.length === 0, `seed ${seed}`).toBe(true)
      expect(step(results).map(textOf)).toEqual(capped.map(textOf))
    }
  })

  it('that were cut alone before point to the same spills', async () => {
    const { result, step, spills } = await app({ maxOutputBytes: 10_000, maxStepOutputBytes: 20_000 })
    const texts = ['a', 'b', 'c', 'd'].map(each => each.repeat(50_000))
    const capped = step(texts.map(text => result(answer(text))))
    expect(capped.map(each => kept(spills, cutOf(textOf(each)).id))).toEqual(texts)
    expect(readdirSync(dirname(spills.path(cutOf(textOf(capped[0]!)).id)!))).toHaveLength(4)
  })

  it('are no shorter than the sentence needs, however many', async () => {
    const { step } = await app({ maxStepOutputBytes: 4096 })
    const capped = step(Array.from({ length: 20 }, (_, i) => answer(String(i % 10).repeat(1000))))
    for (const result of capped) expect(bytes(textOf(result))).toBeLessThanOrEqual(minOutputBytes)
    for (const result of capped) expect(cutOf(textOf(result)).head).not.toBe('')
  })
})

it.each([511, 0, -1, Number.NaN])('a tool with a limit of %d bytes is refused', maxOutputBytes => {
  expect(() => defineTool({ name: 'a', description: 'a', parameters: Type.Object({}), maxOutputBytes, execute: () => '' }))
    .toThrow(expect.objectContaining({ code: 'INVALID_TOOL', message: `maxOutputBytes of tool "a" must be 512 or more, not ${maxOutputBytes}` }))
})
