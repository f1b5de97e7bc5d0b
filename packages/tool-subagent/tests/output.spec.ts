import { messagesOf, type RecordedRequest } from '@offshoot/model-ai-sdk/testing'
import type * as runtime from '@offshoot/runtime'
import * as toolFiles from '@offshoot/tool-files'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { expect, it } from 'vitest'
import { App, gate, isParent, lastMessage, parentTask, type ToolConfig } from './support.ts'

/** What each of ten children finds, 50 KB of it: one long line, short lines, characters of several bytes. */
const findings = Array.from({ length: 10 }, (_, i) => [`${i}`, `${i} line\n`, `€${i}`, `😀 ${i}\r\n`][i % 4]!.repeat(50_000).slice(0, 25_000 + 1000 * i).padEnd(50_000, '.'))
const children = findings.map((_, i) => `Child ${i}`)

async function start(config: ToolConfig, tools: runtime.Input['tools'] = {}): Promise<App> {
  const app = await App.start([config], { tools })
  await app.ctx.plugin(toolFiles, { readOnly: true })
  return app
}

function findingOf(request: RecordedRequest): string {
  const prompt = messagesOf(request).findLast(({ role }) => role === 'user')!.content as string
  return findings[children.findIndex(child => prompt.endsWith(child))]!
}

function toolTexts(request: RecordedRequest): string[] {
  return messagesOf(request).filter(({ role }) => role === 'tool').map(({ content }) => content as string)
}

function sum(texts: readonly string[]): number {
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0)
}

/** The arguments that the sentence in `text` says to call read_file with. */
function pointerIn(text: string): { path: string } {
  return JSON.parse(/\n\[\d+ bytes cut here; the whole output: read_file (\{.*?\})\]\n/.exec(text)?.[1] ?? expect.fail(`no pointer in: ${text.slice(0, 300)}…`)) as { path: string }
}

/** Everything at `pointer`, as a model reads it: page by page, one call a step, each page no longer than `max`. Any agent may. */
async function readAll(app: App, pointer: { path: string }, max: number): Promise<string> {
  let read = ''
  let next: object | undefined = {}
  app.endpoint.respond(request => {
    const { role, content } = lastMessage(request)
    if (role === 'tool') {
      expect(Buffer.byteLength(content as string)).toBeLessThanOrEqual(max)
      const [, page = content as string, newline = '', hint] = /^(.*?)(\n?)\[cut here; the file has \d+ bytes; read on with (\{.*\})\]$/s.exec(content as string) ?? []
      next = hint === undefined ? undefined : JSON.parse(hint) as object
      // The newline before the sentence is the file's own, unless the cut is inside of a line.
      read += page + (next && 'column' in next ? '' : newline)
    }
    return next ? { calls: [{ name: 'read_file', arguments: { ...pointer, ...next } }] } : { text: 'Read.' }
  })
  expect((await app.agent().run('Read it.')).stopReason).toBe('completed')
  return read
}

it.each(['spawn', 'fork'])('ten children (%s) × 50 KB under a small cap: the parent\'s next request stays under it, and every byte can be read again', async provider => {
  await using app = await start({ provider, concurrency: 'parallel' }, { maxStepOutputBytes: 20_000 })
  app.endpoint.respond(request => {
    if (!isParent(request)) return { text: findingOf(request) }
    if (lastMessage(request).role === 'tool') return { text: 'done' }
    return { calls: children.map(prompt => ({ name: 'subagent', arguments: { description: prompt, prompt } })) }
  })
  expect((await app.agent().run(parentTask)).stopReason).toBe('completed')
  const texts = toolTexts(app.endpoint.requests.filter(isParent).at(-1)!)
  expect(texts).toHaveLength(10)
  expect(sum(texts)).toBeLessThanOrEqual(20_000)
  for (const [i, text] of texts.entries()) {
    expect(text.slice(0, 100)).toBe(findings[i]!.slice(0, 100))
    expect(text.slice(-100)).toBe(findings[i]!.slice(-100))
  }
  for (const [i, text] of texts.entries()) expect(await readAll(app, pointerIn(text), 20_000)).toBe(findings[i])
})

it('an instance may have a limit of its own, the same in the foreground and in the background', async () => {
  await using app = await start({ provider: 'spawn', maxOutputBytes: 2000 })
  let background = false
  app.endpoint.respond(request => {
    if (!isParent(request)) return { text: findings[0]! }
    if (lastMessage(request).content === parentTask) return { calls: [{ name: 'subagent', arguments: { description: 'd', prompt: children[0], run_in_background: background } }] }
    return { text: 'done' }
  })
  await app.agent().run(parentTask)
  const result = toolTexts(app.endpoint.requests.filter(isParent).at(-1)!)[0]!
  expect(Buffer.byteLength(result)).toBeLessThanOrEqual(2000)
  background = true
  await app.agent().runToQuiet(parentTask)
  expect(lastMessage(app.endpoint.requests.at(-1)!).content).toBe(`<task-notice task="subagent-1" status="completed">${result}</task-notice>`)
  expect(await readAll(app, pointerIn(result), 100_000)).toBe(findings[0])
})

it('a long background result is pointed to by its notice, and read through task_output under the same cap, every byte of it', async () => {
  await using app = await start({ provider: 'spawn' }, { maxOutputBytes: 8000 })
  app.endpoint.respond(request => {
    if (!isParent(request)) return { text: findings[2]! }
    const { role, content } = lastMessage(request)
    if (content === parentTask) return { calls: [{ name: 'subagent', arguments: { description: 'd', prompt: children[2], run_in_background: true } }] }
    const pointer = role === 'user' ? /Read it with task_output (\{.*\})\./.exec(content as string)?.[1] : undefined
    return pointer === undefined ? { text: 'done' } : { calls: [{ name: 'task_output', arguments: pointer }] }
  })
  expect((await app.agent().runToQuiet(parentTask)).stopReason).toBe('completed')
  const result = toolTexts(app.endpoint.requests.at(-1)!).at(-1)!
  expect(Buffer.byteLength(result)).toBeLessThanOrEqual(8000)
  expect(result.slice(0, 100)).toBe(findings[2]!.slice(0, 100))
  expect(await readAll(app, pointerIn(result), 8000)).toBe(findings[2])
})

it('notices that come together stay under the cap of a step: those over it point to their results', async () => {
  await using app = await start({ provider: 'spawn' }, { maxStepOutputBytes: 5000 })
  const answers = [4000, 3000, 900, 3000, 20].map((length, i) => `${i}`.repeat(length))
  const ended = gate()
  app.ctx.on('task/settled', () => { if (app.ctx.tasks.list().every(({ outcome }) => outcome)) ended.open() })
  app.endpoint.respond(async request => {
    if (!isParent(request)) return { text: answers[children.indexOf(lastMessage(request).content as string)]! }
    if (lastMessage(request).content !== parentTask) {
      await ended.opened
      return { text: 'done' }
    }
    return { calls: answers.map((_, i) => ({ name: 'subagent', arguments: { description: 'd', prompt: children[i], run_in_background: true } })) }
  })
  await app.agent().runToQuiet(parentTask)
  const notices = messagesOf(app.endpoint.requests.at(-1)!).filter(({ role, content }) => role === 'user' && content !== parentTask)
  const told = notices.map(({ content }) => content as string)
  for (const each of told) expect(Buffer.byteLength(each)).toBeLessThanOrEqual(5000)
  const pointers = answers.map((answer, i) => told.some(each => each.includes(`>${answer}<`)) ? 'inline' : told.some(each => each.includes(`has ${answer.length} bytes. Read it with task_output {"task_id": "subagent-${i + 1}"}`)) ? 'pointer' : 'missing')
  expect(pointers.filter(each => each === 'pointer').length).toBeGreaterThan(0)
  expect(pointers).not.toContain('missing')
  expect(pointers[4]).toBe('inline')
})

it('a child\'s own tools answer it under the same cap, and without read_file it is not told to use it', async () => {
  await using app = await start({ provider: 'spawn', toolFilter: { allow: ['dump'] } }, { maxOutputBytes: 8000 })
  app.ctx.tools.register(defineTool({ name: 'dump', description: 'Dumps.', parameters: Type.Object({}), execute: () => 'x'.repeat(7_200_000) }))
  app.endpoint.respond(request => {
    if (lastMessage(request).role === 'tool') return { text: 'done' }
    return { calls: [isParent(request) ? { name: 'subagent', arguments: { description: 'd', prompt: 'Dump.' } } : { name: 'dump', arguments: {} }] }
  })
  await app.agent().run(parentTask)
  const [result] = toolTexts(app.endpoint.requests.filter(request => !isParent(request)).at(-1)!)
  expect(Buffer.byteLength(result!)).toBeLessThanOrEqual(8000)
  expect(result).toMatch(/\n\[\d+ bytes cut here; the whole output: spill:\w+, which no tool of yours reads\]\n/)
})
