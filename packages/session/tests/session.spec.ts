import { Context } from 'cordis'
import { describe, expect, it, onTestFinished } from 'vitest'
import SessionService, { type Message, type Session, type SessionOptions } from '../src/index.ts'

const system: Message = Object.freeze({ role: 'system' as const, content: 'You are a test.' })

async function sessions(): Promise<SessionService> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(SessionService)
  return ctx.sessions
}

function user(text: string): Message {
  return Object.freeze({ role: 'user' as const, content: Object.freeze([Object.freeze({ type: 'text' as const, text })]) as never })
}

function fill(session: Session, ...texts: string[]): Session {
  for (const text of texts) session.append(user(text))
  return session
}

function textsOf(session: Session): string[] {
  return session.entries().map(({ message }) => (message.content as { text: string }[])[0]!.text)
}

const root: SessionOptions = { depth: 0, cwd: '/app' }
const child: SessionOptions = { depth: 1, cwd: '/app' }

describe('a session', () => {
  it('has a header that says whose it is, and that cannot change', async () => {
    const service = await sessions()
    const parent = service.create(root)
    const { header } = service.create({ parent: parent.id, depth: 1, cwd: '/app/sub' })
    expect(header).toEqual({ id: expect.stringMatching(/^ses_[0-9a-z]+$/) as string, parent: parent.id, depth: 1, cwd: '/app/sub', createdAt: expect.any(Number) as number, version: 1 })
    expect(Object.isFrozen(header)).toBe(true)
    expect(() => { (header as { depth: number }).depth = 0 }).toThrow(TypeError)
  })

  it('has no parent in its header where it has none', async () => {
    expect((await sessions()).create(root).header).not.toHaveProperty('parent')
  })

  it('has an id of its own, and ids sort by creation', async () => {
    const service = await sessions()
    const ids = Array.from({ length: 2000 }, () => service.create(root).id)
    expect(new Set(ids).size).toBe(2000)
    expect([...ids].sort()).toEqual(ids)
  })

  it('keeps entries in the order they came, and gives back the entry it made', async () => {
    const session = (await sessions()).create(root)
    const first = session.append(user('one'))
    session.append(user('two'))
    expect(textsOf(session)).toEqual(['one', 'two'])
    expect(session.entries()[0]).toBe(first)
    expect([session.length, session.inherited]).toEqual([2, 0])
    expect(session.entries(1).map(entry => entry.message)).toEqual([user('two')])
  })

  it('holds the very message it was handed, in a frozen entry that survives JSON', async () => {
    const message = user('one')
    const entry = (await sessions()).create(root).append(message)
    expect(entry.message).toBe(message)
    expect(Object.isFrozen(entry)).toBe(true)
    expect(JSON.parse(JSON.stringify(entry))).toEqual(entry)
  })

  it('derives the history for a request from the log: the system text, then the messages themselves', async () => {
    const session = fill((await sessions()).create(root), 'one', 'two')
    const messages = session.messages(system)
    expect(messages).toEqual([system, user('one'), user('two')])
    expect(messages[1]).toBe(session.entries()[0]!.message)
  })

  it('hands out arrays that are the caller\'s own', async () => {
    const session = fill((await sessions()).create(root), 'one')
    session.messages(system).push(user('stray'))
    session.entries().length = 0
    expect(textsOf(session)).toEqual(['one'])
    expect(session.messages(system)).toHaveLength(2)
  })

  it('has each request begin with the one before', async () => {
    const session = (await sessions()).create(root)
    let before = session.messages(system)
    for (const text of ['one', 'two', 'three']) {
      session.append(user(text))
      const messages = session.messages(system)
      expect(messages.slice(0, before.length)).toEqual(before)
      expect(messages).toHaveLength(before.length + 1)
      before = messages
    }
  })

  it('keeps a file\'s address as text, and gives a model the URL it wants', async () => {
    const session = (await sessions()).create(root)
    const data = 'https://example.org/cat.png'
    const base64 = { type: 'file' as const, data: 'aGk=', mediaType: 'text/plain' }
    const message: Message = { role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'file', data, mediaType: 'image/png' }, base64] }
    session.append(Object.freeze(message))
    expect(session.entries()[0]!.message).toBe(message)
    expect(session.messages(system)[1]).toEqual({
      role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'file', data: new URL(data), mediaType: 'image/png' }, base64],
    })
    expect(session.messages(system)[1]).toBe(session.messages(system)[1])
  })
})

describe('a fork', () => {
  it('begins with the whole log, and knows how much of it is not its own', async () => {
    const service = await sessions()
    const source = fill(service.create(root), 'one', 'two')
    const fork = service.fork(source, { ...child, parent: source.id })
    expect(textsOf(fork)).toEqual(['one', 'two'])
    expect([fork.length, fork.inherited, fork.header.parent]).toEqual([2, 2, source.id])
    expect(fork.id).not.toBe(source.id)
  })

  it('shares entries and messages with its source: the same objects', async () => {
    const service = await sessions()
    const source = fill(service.create(root), 'one', 'two')
    const fork = service.fork(source, child)
    for (const [n, entry] of source.entries().entries()) expect(fork.entries()[n]).toBe(entry)
    for (const [n, message] of source.messages(system).entries()) expect(fork.messages(system)[n]).toBe(message)
  })

  it('and its source each go on alone', async () => {
    const service = await sessions()
    const source = fill(service.create(root), 'one')
    const fork = service.fork(source, child)
    fill(source, 'source')
    fill(fork, 'fork')
    expect(textsOf(source)).toEqual(['one', 'source'])
    expect(textsOf(fork)).toEqual(['one', 'fork'])
    expect(fork.messages(system)).toEqual([system, user('one'), user('fork')])
    expect([fork.length, fork.inherited]).toEqual([2, 1])
  })

  it('can begin with the first entries alone, and with none', async () => {
    const service = await sessions()
    const source = fill(service.create(root), 'one', 'two', 'three')
    expect(textsOf(service.fork(source, child, 2))).toEqual(['one', 'two'])
    expect(textsOf(fill(service.fork(source, child, 0), 'own'))).toEqual(['own'])
  })

  it('of a fork, and of that, keeps the order of all', async () => {
    const service = await sessions()
    const first = fill(service.create(root), 'a', 'b')
    const second = fill(service.fork(first, child, 1), 'c', 'd')
    const third = fill(service.fork(second, child), 'e')
    fill(first, 'late')
    fill(second, 'later')
    expect(textsOf(third)).toEqual(['a', 'c', 'd', 'e'])
    expect(third.messages(system)).toEqual([system, user('a'), user('c'), user('d'), user('e')])
    expect(third.entries(2).map(entry => entry.message)).toEqual([user('d'), user('e')])
    expect([third.length, third.inherited]).toEqual([4, 3])
  })

  it('before what a fork inherited is a fork of its source', async () => {
    const service = await sessions()
    const first = fill(service.create(root), 'a', 'b', 'c')
    const second = fill(service.fork(first, child), 'd')
    const early = service.fork(second, child, 2)
    const exact = service.fork(second, child, 3)
    expect([textsOf(early), textsOf(exact)]).toEqual([['a', 'b'], ['a', 'b', 'c']])
    expect([early.inherited, exact.inherited]).toEqual([2, 3])
    fill(first, 'late')
    expect([textsOf(early), textsOf(exact)]).toEqual([['a', 'b'], ['a', 'b', 'c']])
  })

  it('takes the same memory whatever the length of the history', async () => {
    const service = await sessions()
    const source = service.create(root)
    const message = user('one')
    for (let n = 0; n < 10_000; n++) source.append(message)
    const fork = service.fork(source, child)
    fork.append(message)
    const before = process.memoryUsage().heapUsed
    const forks = Array.from({ length: 2000 }, (_, n) => service.fork(n % 2 ? source : fork, child))
    // One copied array of references would be 80 KB each, 160 MB in all.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20e6)
    expect(forks.map(each => each.length).slice(-2)).toEqual([10_001, 10_000])
  })

  it('takes no longer from 10,000 messages than from 10', async () => {
    const service = await sessions()
    const [short, long] = [10, 10_000].map(length => {
      const source = service.create(root)
      for (let n = 0; n < length; n++) {
        if (n % 2 === 0) source.beginTurn()
        source.append(user('one'))
      }
      return source
    }) as [Session, Session]
    const timeOf = (source: Session): number => {
      const start = performance.now()
      for (let n = 0; n < 500; n++) service.fork(source, child)
      return performance.now() - start
    }
    let [best, bestLong] = [Infinity, Infinity]
    for (let round = 0; round < 20; round++) {
      best = Math.min(best, timeOf(short))
      bestLong = Math.min(bestLong, timeOf(long))
    }
    // The best of many, so that what else the machine does is not in it. A walk through the log would be some hundred times.
    expect(bestLong / best).toBeLessThan(5)
  })

  it('of a fork that added nothing is no deeper than that fork', async () => {
    const service = await sessions()
    let fork = fill(service.create(root), 'one')
    for (let n = 0; n < 20_000; n++) fork = service.fork(fork, child)
    expect(textsOf(fill(fork, 'two'))).toEqual(['one', 'two'])
  })

  it.each([-1, 4, 1.5, Number.NaN])('at entry %s of three is refused', async (upTo) => {
    const service = await sessions()
    const source = fill(service.create(root), 'one', 'two', 'three')
    expect(() => service.fork(source, child, upTo)).toThrow(new RangeError(`cannot fork session ${source.id} at entry ${upTo}: it has 3`))
  })
})
