import { Context } from 'cordis'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import SessionService, { deepFreeze, type Message } from '../src/index.ts'

const system: Message = { role: 'system', content: 'You are here.' }
const user = (text: string): Message => deepFreeze({ role: 'user' as const, content: [{ type: 'text' as const, text }] })
const assistant = (text: string): Message => deepFreeze({ role: 'assistant' as const, content: [{ type: 'text' as const, text }] })
const call: Message = deepFreeze({ role: 'assistant' as const, content: [{ type: 'tool-call' as const, toolCallId: 'c1', toolName: 'shell', input: { command: 'ls' } }] })

function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'offshoot-sessions-'))
  onTestFinished(() => { rmSync(dir, { recursive: true }) })
  return dir
}

/** As a process would begin anew: nothing but the folder is known. */
async function sessionsIn(dir: string): Promise<SessionService> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(SessionService, { dir })
  return ctx.sessions
}

describe('a session that is kept', () => {
  it('is one file, its header first, an entry a line, and comes back byte for byte', async () => {
    const dir = newFolder()
    const session = (await sessionsIn(dir)).create({ depth: 0, cwd: '/work' })
    expect(readdirSync(dir)).toEqual([])
    session.append(user('Hello.\nThere “you” are.'))
    session.append(assistant('Hi.'))
    const lines = readFileSync(join(dir, `${session.id}.jsonl`), 'utf8').trimEnd().split('\n').map(line => JSON.parse(line) as { type: string })
    expect(lines.map(({ type }) => type)).toEqual(['session', 'message', 'message'])
    expect(lines[0]).toEqual({ type: 'session', ...session.header })
    const loaded = (await sessionsIn(dir)).load(session.id)!
    expect(loaded.header).toEqual(session.header)
    expect(JSON.stringify(loaded.messages(system))).toBe(JSON.stringify(session.messages(system)))
    expect(loaded.turnsWithin(loaded.length)).toBe(1)
    loaded.append(user('Go on.'))
    expect((await sessionsIn(dir)).load(session.id)!.length).toBe(3)
  })

  it('that was forked holds its own entries, and finds the others', async () => {
    const dir = newFolder()
    const sessions = await sessionsIn(dir)
    const base = sessions.create({ depth: 0, cwd: '/work' })
    base.append(user('Shared.'))
    base.append(assistant('Yes.'))
    const fork = sessions.fork(base, { depth: 1, cwd: '/work', parent: base.id }, 1)
    base.append(user('Only here.'))
    fork.append(assistant('Only there.'))
    expect(readFileSync(join(dir, `${fork.id}.jsonl`), 'utf8').trimEnd().split('\n')).toHaveLength(2)
    const loaded = (await sessionsIn(dir)).load(fork.id)!
    expect(JSON.stringify(loaded.messages(system))).toBe(JSON.stringify(fork.messages(system)))
  })

  it('whose process ended in the middle is mended: a cut line is left out, a call without a result gets one that says so', async () => {
    const dir = newFolder()
    const session = (await sessionsIn(dir)).create({ depth: 0, cwd: '/work' })
    session.append(user('List.'))
    session.append(call)
    appendFileSync(join(dir, `${session.id}.jsonl`), '{"type":"message","at":1,"mess')
    const loaded = (await sessionsIn(dir)).load(session.id)!
    expect(loaded.last?.message).toMatchObject({ role: 'tool', content: [{ toolCallId: 'c1', output: { type: 'error-text', value: expect.stringContaining('the process ended before this call did') } }] })
    loaded.append(user('Again.'))
    const again = (await sessionsIn(dir)).load(session.id)!
    expect(again.entries()).toEqual(loaded.entries())
  })

  it('is listed, newest first, with its first words; what was delegated is not', async () => {
    const dir = newFolder()
    const sessions = await sessionsIn(dir)
    const [first, second] = ['/a', '/b'].map(cwd => sessions.create({ depth: 0, cwd }))
    first!.append(user('The first\n one.'))
    second!.append(user('The second one.'))
    sessions.create({ depth: 1, cwd: '/a', parent: first!.id }).append(user('A task.'))
    const listed = (await sessionsIn(dir)).list()
    expect(listed.map(({ id, title, cwd }) => ({ id, title, cwd })).sort((a, b) => a.id < b.id ? -1 : 1)).toEqual([
      { id: first!.id, title: 'The first one.', cwd: '/a' }, { id: second!.id, title: 'The second one.', cwd: '/b' },
    ])
  })

  it('that was not, or whose id leads elsewhere, is none', async () => {
    const sessions = await sessionsIn(newFolder())
    for (const id of ['ses_unknown', '../../etc/passwd', '']) expect(sessions.load(id)).toBeUndefined()
  })
})

it('without a folder nothing is kept', async () => {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(SessionService)
  const session = ctx.sessions.create({ depth: 0, cwd: '/' })
  session.append(user('Hello.'))
  expect([ctx.sessions.list(), ctx.sessions.load(session.id)]).toEqual([[], undefined])
})
