import { describe, expect, it, vi } from 'vitest'
import type { Approval, Attendant } from '../src/index.ts'
import { type App, results, startApp } from './support.ts'

/** Writes down what it is told, as `name asked approval-1`. */
function listening(heard: string[], name: string, asked: Attendant['asked'] = () => {}): Attendant {
  return {
    asked: approval => {
      heard.push(`${name} asked ${approval.id}`)
      asked(approval)
    },
    settled: ({ id }, { by }) => { heard.push(`${name} settled ${id} ${by}`) },
  }
}

const deny = (approval: Approval): void => { approval.deny() }

/** A turn that waits for what it asks. */
async function started(app: App, agent = app.ctx.agents.create()): Promise<{ readonly done: Promise<unknown> }> {
  const before = app.asked.length
  const done = agent.run('act')
  await vi.waitFor(() => { expect(app.asked).toHaveLength(before + 1) })
  return { done }
}

describe('attendants', () => {
  it('of a tree hear of its questions; those of all, only where it has none', async () => {
    const app = await startApp({ execute: 'ask' })
    const heard: string[] = []
    const [first, second] = [app.ctx.agents.create(), app.ctx.agents.create()]
    app.ctx.approvals.attend({ asked: ({ id }) => { heard.push(`all ${id}`) } })
    app.ctx.approvals.attend({ asked: ({ id }) => { heard.push(`first ${id}`) }, settled: ({ id }, { by }) => { heard.push(`first ${id} ${by}`) } }, first)
    void first.run('act')
    await vi.waitFor(() => { expect(app.asked).toHaveLength(1) })
    void second.run('act')
    await vi.waitFor(() => { expect(app.asked).toHaveLength(2) })
    expect(app.ctx.approvals.list(second)).toEqual([app.asked[1]])
    for (const approval of app.asked) approval.deny()
    expect(heard).toEqual(['first approval-1', 'all approval-2', 'first approval-1 answer'])
  })

  it('and listeners that throw are logged, and cost nobody the answer', async () => {
    const app = await startApp({ execute: 'ask' })
    app.ctx.on('approval/asked', () => { throw new Error('listener') })
    app.ctx.approvals.attend({ asked: () => { throw new Error('attendant') }, settled: () => { throw new Error('attendant') } })
    app.ctx.approvals.attend({ asked: approval => { approval.allow() } })
    expect(await results(app, 'act')).toEqual(['act ran'])
    expect(app.logged.map(error => (error as Error).message)).toEqual(expect.arrayContaining(['listener', 'attendant']))
  })

  it('that reject are logged too: they are people, and people take time', async () => {
    const app = await startApp({ execute: 'ask' })
    app.ctx.approvals.attend({
      asked: async () => Promise.reject(new Error('asked')),
      settled: async () => Promise.reject(new Error('settled')),
    })
    app.ctx.approvals.attend({ asked: approval => { approval.allow() } })
    expect(await results(app, 'act')).toEqual(['act ran'])
    await vi.waitFor(() => { expect(app.logged.map(error => (error as Error).message)).toEqual(['asked', 'settled']) })
  })

  it('that an earlier one has answered before are told nothing', async () => {
    const app = await startApp({ execute: 'ask' })
    const heard: string[] = []
    app.ctx.approvals.attend(listening(heard, 'first', deny))
    app.ctx.approvals.attend(listening(heard, 'second'))
    await results(app, 'act')
    expect(heard).toEqual(['first asked approval-1', 'first settled approval-1 answer'])
  })

  it('that come later are told of what waits, once', async () => {
    const app = await startApp({ execute: 'ask' })
    const heard: string[] = []
    app.ctx.approvals.attend(listening(heard, 'first'))
    const turn = await started(app)
    const leave = app.ctx.approvals.attend(listening(heard, 'second'))
    leave()
    app.ctx.approvals.attend(listening(heard, 'third', deny))
    await turn.done
    expect(heard).toEqual(['first asked approval-1', 'second asked approval-1', 'third asked approval-1', 'first settled approval-1 answer', 'third settled approval-1 answer'])
  })

  it('of all are told of what waits in a tree whose own have left', async () => {
    const app = await startApp({ execute: 'ask' })
    const heard: string[] = []
    const root = app.ctx.agents.create()
    app.ctx.approvals.attend(listening(heard, 'all'))
    const leave = app.ctx.approvals.attend(listening(heard, 'own'), root)
    const turn = await started(app, root)
    leave()
    expect(app.ctx.approvals.list()).toHaveLength(1)
    app.asked[0]!.allow()
    await turn.done
    expect(heard).toEqual(['own asked approval-1', 'all asked approval-1', 'all settled approval-1 answer'])
    expect(app.ran).toEqual(['act'])
  })

  it('hear the end of what they were asked, though the tree has got its own since', async () => {
    const app = await startApp({ execute: 'ask' })
    const heard: string[] = []
    const root = app.ctx.agents.create()
    app.ctx.approvals.attend(listening(heard, 'all'))
    const turn = await started(app, root)
    app.ctx.approvals.attend(listening(heard, 'own', deny), root)
    await turn.done
    expect(heard).toEqual(['all asked approval-1', 'own asked approval-1', 'all settled approval-1 answer', 'own settled approval-1 answer'])
  })

  it('of another tree alone are nobody', async () => {
    const app = await startApp({ execute: 'ask' })
    const heard: string[] = []
    app.ctx.approvals.attend(listening(heard, 'other'), app.ctx.agents.create())
    expect((await results(app, 'act'))[0]).toContain('nobody is here to give it')
    expect(heard).toEqual([])
  })
})

describe('a listener of approval/asked', () => {
  it('may answer: the others still hear the beginning before the end, and no attendant is bothered', async () => {
    const app = await startApp({ execute: 'ask' })
    const heard: string[] = []
    app.ctx.on('approval/asked', approval => {
      approval.allow()
      heard.push('answered')
    })
    app.ctx.on('approval/asked', ({ id }) => { heard.push(`asked ${id}`) })
    app.ctx.on('approval/settled', ({ id }) => { heard.push(`settled ${id}`) })
    app.ctx.approvals.attend(listening(heard, 'attendant'))
    expect(await results(app, 'act')).toEqual(['act ran'])
    expect(heard).toEqual(['answered', 'asked approval-1', 'settled approval-1'])
    expect(app.settled).toHaveLength(1)
  })
})
