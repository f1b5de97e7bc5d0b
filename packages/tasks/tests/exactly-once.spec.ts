import { type Agent, AgentError } from '@offshoot/agent'
import type { ModelRequest } from '@offshoot/model'
import { type FakeModel, fakeModel } from '@offshoot/model/testing'
import { expect, it } from 'vitest'
import { Random } from '../../../tests/random.ts'
import { Clock, hop } from './schedule.ts'
import { type App, noticesIn, rest, start, startJob, tool } from './support.ts'

const schedules = 1000
const children = 16
const answer = 'An answer.'

/** Where the owner was when a task settled. */
const places = ['before the first turn', 'in a request', 'in a tool', 'in the gap before it goes idle', 'between turns', 'after an abort'] as const
type Place = typeof places[number]

/** What happened to one owner, as it happened. */
interface Story {
  readonly agent: Agent
  readonly model: FakeModel
  /** Ids, in the order in which they settled. */
  readonly settled: string[]
  /** How many requests there were when each of them settled. */
  readonly requestsBefore: Map<string, number>
  readonly places: Map<string, Place>
  /** How many requests there were at the latest abort; until the next input there must be no more. */
  requestsAtAbort: number | undefined
}

/**
 * One owner with 16 tasks. Turns, requests, tools and tasks begin and end at times that the seed chooses, down to the
 * microtask, and in a third of the schedules somebody aborts the owner meanwhile.
 */
async function play({ ctx }: App, seed: number): Promise<Story> {
  const random = new Random(seed)
  const clock = new Clock()
  const isFree = { now: false }
  const pause = (): Promise<unknown> => isFree.now ? Promise.resolve() : clock.sleep(random.below(3))
  const model = fakeModel(() => random.chance(0.4)
    ? { hold: pause(), text: 'Let me work.', calls: [{ name: 'work' }] }
    : { hold: pause(), text: answer })
  const name = `seed-${seed}`
  const withdraw = ctx.models.register(name, model)
  const agent = ctx.agents.create({ model: name, tools: [tool('work', async () => { await pause(); return 'worked' })] })
  const story: Story = { agent, model, settled: [], requestsBefore: new Map(), places: new Map(), requestsAtAbort: undefined }
  const expectSilence = (): void => { if (story.requestsAtAbort !== undefined) expect(model.requests).toHaveLength(story.requestsAtAbort) }

  agent.on(event => {
    if (event.type !== 'turn-end' || event.result.stopReason !== 'completed') return
    for (const { id, outcome, delivery } of ctx.tasks.list(agent)) {
      if (outcome && delivery === 'undelivered') story.places.set(id, 'in the gap before it goes idle')
    }
  })
  const off = ctx.on('task/settled', ({ id }) => {
    story.settled.push(id)
    story.requestsBefore.set(id, model.requests.length)
    story.places.set(id, story.requestsAtAbort !== undefined ? 'after an abort'
      : agent.state === 'idle' ? model.requests.length === 0 ? 'before the first turn' : 'between turns'
        : agent.progress?.tool === undefined ? 'in a request' : 'in a tool')
  })

  const input = async (text: string): Promise<void> => {
    if (agent.state === 'running') {
      await expect(agent.run(text)).rejects.toBeInstanceOf(AgentError)
      return
    }
    expectSilence()
    story.requestsAtAbort = undefined
    await agent.run(text)
  }
  const jobs = Array.from({ length: children }, () => startJob(ctx, agent))
  for (const job of jobs) {
    clock.at(random.below(16), random.below(24), random.chance(0.8) ? job.complete : () => { job.fail(new Error('out of luck')) })
  }
  // The few microtasks in which a turn ends would hardly be met by chance.
  agent.on(event => {
    if (event.type !== 'text-delta' || event.text !== answer) return
    for (const job of jobs.filter(({ task }) => !task.outcome).slice(0, random.below(6))) void hop(8 + random.below(10)).then(() => { job.complete() })
  })
  clock.at(random.below(4), 0, () => { void input('Go.') })
  if (random.chance(0.3)) clock.at(4 + random.below(8), random.below(24), () => { void input('Go on.') })
  if (random.chance(0.33)) {
    clock.at(random.below(12), random.below(24), () => {
      story.requestsAtAbort ??= model.requests.length
      agent.abort(new Error('enough'), { scope: random.chance(0.3) ? 'tree' : 'turn' })
    })
  }
  await clock.runOut(() => 1 + random.below(3))
  isFree.now = true
  await rest()
  if (story.requestsAtAbort !== undefined) await input('And now?')
  await rest()
  off()
  withdraw()
  return story
}

const told = /<task-notice task="(job-\d+)" status="\w+">[^<]*<\/task-notice>/g

/** The ids that a request tells of, and the one before it did not. */
function newsIn({ prompt }: ModelRequest, before: ModelRequest | undefined): string[] {
  return Array.from(JSON.stringify(prompt.slice(before?.prompt.length ?? 0)).replaceAll('\\"', '"').matchAll(told), ([, id]) => id!)
}

function expectEachOnceAtOnce({ ctx }: App, { agent, model, settled, requestsBefore }: Story): void {
  const notices = noticesIn(agent.session)
  expect(settled).toHaveLength(children)
  // Each once, in the order in which they settled, and nothing beside them in their messages.
  expect(notices.join('\n').replaceAll(told, '$1').split('\n')).toEqual(settled)
  // Each in the first request that was made after it had settled.
  const firstRequest = new Map(model.requests.flatMap((request, index) => newsIn(request, model.requests[index - 1]).map(id => [id, index] as const)))
  expect(firstRequest).toEqual(requestsBefore)
  expect(ctx.tasks.list(agent).filter(({ delivery }) => delivery !== 'delivered')).toEqual([])
  expect([agent.state, agent.isBusy]).toEqual(['idle', false])
}

it(`${children} tasks that settle at any moment of their owner's turns, or between them: ${children} notices, each once and at the first step possible; after an abort not before the next input (${schedules} schedules)`, async () => {
  // Its turns look alike, over and over.
  const app = await start(undefined, { agent: { maxRepeats: 1_000_000 } })
  const reached = new Map<Place, number>()
  for (let seed = 1; seed <= schedules; seed++) {
    try {
      const story = await play(app, seed)
      expectEachOnceAtOnce(app, story)
      for (const place of story.places.values()) reached.set(place, (reached.get(place) ?? 0) + 1)
      await story.agent.dispose()
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error })
    }
  }
  // A promise about every place is kept only where schedules get there.
  for (const place of places) expect(`${place}: ${reached.get(place)! > schedules / 20}`).toBe(`${place}: true`)
  expect(app.logged).toEqual([])
}, 60_000)
