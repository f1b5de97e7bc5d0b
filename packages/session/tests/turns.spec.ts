import { Context } from 'cordis'
import { describe, expect, it, onTestFinished } from 'vitest'
import SessionService, { type Message, type Session } from '../src/index.ts'

async function sessions(): Promise<SessionService> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(SessionService)
  return ctx.sessions
}

const message: Message = Object.freeze({ role: 'user' as const, content: [{ type: 'text' as const, text: 'm' }] })
const options = { depth: 0, cwd: '/app' }

/** One turn of that many messages. */
function turn(session: Session, messages: number): void {
  session.beginTurn()
  for (let n = 0; n < messages; n++) session.append(message)
}

/** How many turns began within the first 0, 1, 2, … entries. */
function counts(session: Session): number[] {
  return Array.from({ length: session.length + 1 }, (_, length) => session.turnsWithin(length))
}

describe('turnsWithin()', () => {
  it('counts the turns that began within the first entries, those under way too', async () => {
    const session = (await sessions()).create(options)
    turn(session, 2)
    turn(session, 1)
    turn(session, 3)
    expect(counts(session)).toEqual([0, 1, 1, 2, 3, 3, 3])
  })

  it('is 0 where no turn began, however much was appended', async () => {
    const session = (await sessions()).create(options)
    expect(counts(session)).toEqual([0])
    session.append(message)
    expect(counts(session)).toEqual([0, 0])
  })

  it('does not count a turn in which nothing came', async () => {
    const session = (await sessions()).create(options)
    session.beginTurn()
    session.beginTurn()
    expect(counts(session)).toEqual([0])
    turn(session, 1)
    session.beginTurn()
    expect(counts(session)).toEqual([0, 1])
    session.append(message)
    expect(counts(session)).toEqual([0, 1, 2])
  })
})

describe('turnsWithin() of a fork', () => {
  it('begins with those of its source, cut where it was cut', async () => {
    const service = await sessions()
    const source = service.create(options)
    turn(source, 2)
    turn(source, 2)
    expect(counts(service.fork(source, options))).toEqual([0, 1, 1, 2, 2])
    expect(counts(service.fork(source, options, 2))).toEqual([0, 1, 1])
    expect(counts(service.fork(source, options, 3))).toEqual([0, 1, 1, 2])
    expect(counts(service.fork(source, options, 0))).toEqual([0])
  })

  it('goes on with its own, and neither hears of the other\'s', async () => {
    const service = await sessions()
    const source = service.create(options)
    turn(source, 1)
    const fork = service.fork(source, options)
    turn(fork, 2)
    turn(source, 1)
    turn(source, 1)
    expect(counts(fork)).toEqual([0, 1, 2, 2])
    expect(counts(source)).toEqual([0, 1, 2, 3])
  })

  it('of a fork, and of that, is told by whichever holds the entries', async () => {
    const service = await sessions()
    const first = service.create(options)
    turn(first, 2)
    const second = service.fork(first, options)
    turn(second, 2)
    const third = service.fork(second, options, 3)
    turn(third, 1)
    expect(counts(third)).toEqual([0, 1, 1, 2, 3])
    expect(counts(service.fork(third, options, 1))).toEqual([0, 1])
  })
})

it('last is the newest entry, inherited or own, and absent in an empty log', async () => {
  const service = await sessions()
  const source = service.create(options)
  expect(source.last).toBeUndefined()
  const first = source.append(message)
  const second = source.append(message)
  expect([source.last, service.fork(source, options).last, service.fork(source, options, 1).last]).toEqual([second, second, first])
  const fork = service.fork(source, options)
  const own = fork.append(message)
  expect([fork.last === own, source.last === second]).toEqual([true, true])
})
