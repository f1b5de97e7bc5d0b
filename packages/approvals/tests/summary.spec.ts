import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { startApp } from './support.ts'

/** What people read of a call with these arguments. */
async function shown(args: object): Promise<string> {
  const app = await startApp({ undeclared: 'ask' }, ({ prompt }) => prompt.at(-1)?.role === 'user' ? { calls: [{ name: 'own', args }] } : 'ok')
  app.ctx.approvals.attend({ asked: approval => { approval.deny() } })
  const own = defineTool({ name: 'own', description: 'Runs.', parameters: Type.Object({}, { additionalProperties: true }), execute: () => 'ran' })
  await app.ctx.agents.create({ tools: [own] }).run('Go.')
  return app.asked[0]!.request.summary
}

describe('the summary of a call', () => {
  it('is what its arguments hold, texts and numbers, in their order, in one line', async () => {
    expect(await shown({ path: 'a.ts', line: 7, all: true, text: 'one\n  two\tthree ' })).toBe('a.ts 7 one two three')
  })

  it('is empty where there is nothing to read', async () => {
    expect(await shown({})).toBe('')
  })

  it('holds nothing that a terminal would obey, or that turns its text round', async () => {
    expect(await shown({ command: '\u001B[2Jrm -rf\u0007 /\u202E tmp\u009B1A\u2066\u200B' })).toBe('[2Jrm -rf / tmp 1A')
  })

  it('holds nothing that is not seen: what hides a word, or is half a character', async () => {
    expect(await shown({ command: 'r\u00ADm\uFEFF a\u061Cb\u2060 c\u{E0041}\uD83D end' })).toBe('r m a b c end')
  })

  it('is at most 300 characters, and splits none', async () => {
    const faces = '\u{1F600}'.repeat(301)
    expect(await shown({ text: faces })).toBe(`${'\u{1F600}'.repeat(299)}…`)
    expect(await shown({ text: 'x'.repeat(300) })).toBe('x'.repeat(300))
  })
})
