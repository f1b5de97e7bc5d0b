import type { Agent } from '@offshoot/agent'
import { type SubagentProvider, SubagentError } from '@offshoot/subagent'
import type { Task } from '@offshoot/tasks'
import { describe, expect, it } from 'vitest'
import { App, endedRun, gate, inBackground, oddProvider } from './support.ts'

async function delegate(agent: Agent): Promise<string> {
  const { content } = await agent.tools.execute('subagent', inBackground, { callId: 'c', agent })
  return content.map(block => block.type === 'text' ? block.text : block.type).join()
}

/** A background task over the provider `odd`, once it has settled. */
async function settledOver(start: SubagentProvider['start']): Promise<Pick<Task, 'status' | 'outcome'>> {
  await using app = await App.start([{ provider: 'odd' }], { subagents: { disposeGraceMs: 50 } })
  app.ctx.subagents.registerProvider(oddProvider(start))
  expect(await delegate(app.agent())).toBe('started background subagent task subagent-1')
  // Awaited here: the app goes when this returns.
  return await app.ctx.tasks.wait('subagent-1')
}

const stuck = (): Promise<never> => Promise.reject(new Error('stuck'))
const failed = (error: string) => ({ status: 'failed', error })
const completed = { status: 'completed', output: 'The text.' }

describe('a background task settles as', () => {
  it.each<[string, SubagentProvider['start'], { readonly status: string }]>([
    ['completed, with the final text', async () => endedRun('completed', 'The text.'), completed],
    ['killed, for an abort', async () => endedRun('aborted', 'Half'), { status: 'killed' }],
    ['failed, for an endpoint or transport that failed', async () => endedRun('error', 'Half'), failed('subagent run failed')],
    ['failed, for a token limit', async () => endedRun('max-tokens', 'Half'), failed('subagent run hit its token limit before finishing')],
    ['failed, for a refusal', async () => endedRun('refusal', 'No.'), failed('subagent declined the task')],
    ['failed, for too many steps', async () => endedRun('max-steps', 'Half'), failed('subagent run ended abnormally (max-steps)')],
    ['failed, for silence', async () => endedRun('empty-output'), failed('subagent run ended abnormally (empty-output)')],
    ['failed, for success without output', async () => endedRun('completed'), failed('subagent run ended abnormally (empty-output)')],
    ['failed, for an ending that nobody knows', async () => endedRun('went-missing', 'Half'), failed('subagent run ended abnormally (went-missing)')],
    ['failed, for a result that rejects', async () => ({ ...endedRun('error'), result: stuck() }), failed('subagent run failed')],
    ['failed, where no child came to be', async () => { throw new Error('no room') }, failed('subagent provider "odd" could not start a child: no room')],
    ['failed, where the start was refused', async () => { throw new SubagentError('DEPTH_LIMIT', 'too deep') }, failed('too deep')],
    ['failed, where no run was handed over', async () => ({}) as never, failed('subagent provider "odd" could not start a child: it handed over something that is no run (result, dispose)')],
    ['completed, although disposing the child failed', async () => ({ ...endedRun('completed', 'The text.'), dispose: stuck }), completed],
    ['completed, although disposing the child hung', async () => ({ ...endedRun('completed', 'The text.'), dispose: () => new Promise(() => {}) }), completed],
    ['failed with the child\'s own reason, although disposing it failed too', async () => ({ ...endedRun('refusal'), dispose: stuck }), failed('subagent declined the task')],
    ['failed, where a cancelled child did not stop', async () => ({ ...endedRun('aborted'), dispose: stuck }), failed('disposing run-1 of subagent provider "odd" failed: stuck')],
    ['failed, where a cancelled child hung', async () => ({ ...endedRun('aborted'), dispose: () => new Promise(() => {}) }), failed('disposing run-1 of subagent provider "odd" failed: not quiet after 50 ms')],
  ])('%s', async (_how, start, outcome) => {
    expect(await settledOver(start)).toMatchObject({ status: outcome.status, outcome })
  })

  it('nothing, before its child was disposed', async () => {
    await using app = await App.start([{ provider: 'odd' }])
    const [disposing, disposed] = [gate(), gate()]
    app.ctx.subagents.registerProvider(oddProvider(async () => ({
      ...endedRun('completed', 'The text.'),
      dispose: () => {
        disposing.open()
        return disposed.opened
      },
    })))
    await delegate(app.agent())
    await disposing.opened
    expect(app.ctx.tasks.get('subagent-1')).toMatchObject({ status: 'running' })
    disposed.open()
    expect(await app.ctx.tasks.wait('subagent-1')).toMatchObject({ status: 'completed' })
  })
})

describe('killing a background task', () => {
  it('in startup aborts the start, waits until it was undone, and is killed', async () => {
    await using app = await App.start([{ provider: 'odd' }])
    const undone = gate()
    app.ctx.subagents.registerProvider(oddProvider(({ signal }) => new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => { void undone.opened.then(() => { reject(signal.reason as Error) }) })
    })))
    await delegate(app.agent())
    const killed = app.ctx.tasks.kill('subagent-1', 'changed my mind')
    expect(app.ctx.tasks.get('subagent-1')).toMatchObject({ status: 'stopping', reason: 'changed my mind' })
    undone.open()
    expect(await killed).toMatchObject({ status: 'killed' })
    expect(app.ended).toEqual([])
  })

  it('in startup disposes the child of a provider that hands it over all the same', async () => {
    await using app = await App.start([{ provider: 'odd' }])
    const order: string[] = []
    app.ctx.subagents.registerProvider(oddProvider(async ({ signal }) => {
      await new Promise<void>(resolve => { signal.addEventListener('abort', () => { resolve() }) })
      return { ...endedRun('aborted'), dispose: async () => { order.push('disposed') } }
    }))
    await delegate(app.agent())
    expect(await app.ctx.tasks.kill('subagent-1', 'enough')).toMatchObject({ status: 'killed' })
    expect(order).toEqual(['disposed'])
  })

  it('in startup is failed where the start could not be undone', async () => {
    await using app = await App.start([{ provider: 'odd' }])
    app.ctx.subagents.registerProvider(oddProvider(({ signal }) => new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => { reject(new SubagentError('DISPOSE_FAILED', 'its process is still there')) })
    })))
    await delegate(app.agent())
    expect(await app.ctx.tasks.kill('subagent-1', 'enough')).toMatchObject({ status: 'failed', outcome: { error: 'its process is still there' } })
  })

  it('while the child works ends the child', async () => {
    await using app = await App.start()
    const agent = app.agent()
    await atWork(app, () => delegate(agent))
    expect(await app.ctx.tasks.kill('subagent-1', 'enough')).toMatchObject({ status: 'killed' })
    expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual(['aborted'])
    expect(app.ctx.agents.list().map(({ id }) => id)).toEqual([agent.id])
  })

  it('ends that child alone, not its siblings', async () => {
    await using app = await App.start()
    const agent = app.agent()
    await atWork(app, () => delegate(agent))
    await atWork(app, () => delegate(agent))
    await app.ctx.tasks.kill('subagent-1', 'enough')
    expect(app.ctx.tasks.list(agent).map(({ status }) => status)).toEqual(['killed', 'running'])
  })
})

describe('cancelling the agent that delegated', () => {
  it('its turn: the background child works on', async () => {
    await using app = await App.start()
    const agent = app.agent()
    await atWork(app, () => delegate(agent))
    agent.abort()
    expect(app.ctx.tasks.get('subagent-1')).toMatchObject({ status: 'running' })
    expect(app.ended).toEqual([])
  })

  it('the tree: background children end, and theirs, and the tasks say why', async () => {
    await using app = await App.start()
    const agent = app.agent()
    await atWork(app, () => delegate(agent))
    const child = app.ctx.agents.list().find(({ parent }) => parent === agent)!
    await atWork(app, () => delegate(child))
    agent.abort(new Error('the user pressed Ctrl-C'), { scope: 'tree' })
    await Promise.all(['subagent-1', 'subagent-2'].map(id => app.ctx.tasks.wait(id)))
    expect(app.ctx.tasks.list().map(({ owner, status, reason }) => `${owner.id}: ${status}, ${reason}`)).toEqual([
      `${agent.id}: killed, the user pressed Ctrl-C`, `${child.id}: killed, the user pressed Ctrl-C`,
    ])
    expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual(['aborted', 'aborted'])
    expect(app.ctx.agents.list().map(({ id }) => id)).toEqual([agent.id])
  })

  it('by disposing it: its children are killed and waited for', async () => {
    await using app = await App.start()
    const agent = app.agent()
    await atWork(app, () => delegate(agent))
    await agent.dispose()
    expect(app.ctx.tasks.get('subagent-1')).toMatchObject({ status: 'killed' })
    expect(app.ctx.agents.list()).toEqual([])
    expect(app.ctx.subagents.tree()).toEqual([])
  })

  it('by disposing it while a child starts: the start is undone first', async () => {
    await using app = await App.start([{ provider: 'odd' }])
    const undone = gate()
    app.ctx.subagents.registerProvider(oddProvider(({ signal }) => new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => { void undone.opened.then(() => { reject(signal.reason as Error) }) })
    })))
    const agent = app.agent()
    await delegate(agent)
    let isGone = false
    const gone = agent.dispose().then(() => { isGone = true })
    await new Promise(resolve => { setImmediate(resolve) })
    expect(isGone).toBe(false)
    undone.open()
    await gone
    expect(app.ctx.tasks.get('subagent-1')).toMatchObject({ status: 'killed' })
  })
})

it('one task more than its owner may have is refused with the reason, and no child is started', async () => {
  await using app = await App.start([{ provider: 'odd' }], { tasks: { maxRunningPerOwner: 2 } })
  let starts = 0
  app.ctx.subagents.registerProvider(oddProvider(({ signal }) => new Promise((_resolve, reject) => {
    starts++
    signal.addEventListener('abort', () => { reject(signal.reason as Error) })
  })))
  const agent = app.agent()
  await delegate(agent)
  await delegate(agent)
  expect(await delegate(agent)).toBe('Error: 2 background tasks are running and 2 may (maxRunningPerOwner); wait for one to end, or kill one (subagent-1, subagent-2)')
  expect(starts).toBe(2)
  expect(app.ctx.tasks.list()).toHaveLength(2)
  await app.ctx.tasks.kill('subagent-1', 'enough')
  expect(await delegate(agent)).toBe('started background subagent task subagent-3')
})

/** Settles once a child that `begin` started is in its first request, which is never answered. */
async function atWork(app: App, begin: () => Promise<unknown>): Promise<void> {
  const working = gate()
  app.endpoint.respond(() => {
    working.open()
    return { hold: new Promise(() => {}) }
  })
  await begin()
  await working.opened
}
