import type { Agent } from '@offshoot/agent'
import type { ModelRequest } from '@offshoot/model'
import { textOf } from '@offshoot/session'
import SubagentService, { type SubagentRun } from '@offshoot/subagent'
import * as spawn from '@offshoot/subagent-spawn'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import type { Task, TaskOutcome } from '../src/index.ts'
import { type App, gate, type Job, lastText, never, notice, noticesIn, rest, start, startJob } from './support.ts'

/** An app whose agents can have children. */
async function startWithChildren(...args: Parameters<typeof start>): Promise<App> {
  const app = await start(...args)
  await app.ctx.plugin(SubagentService)
  await app.ctx.plugin(spawn)
  return app
}

function delegate({ ctx }: App, parent: Agent, label: string, signal: AbortSignal): Promise<SubagentRun> {
  return ctx.subagents.start('spawn', { prompt: 'Go.', parent, label, signal })
}

async function outcomeOf(run: SubagentRun): Promise<TaskOutcome> {
  const { stopReason, output } = await run.result
  await run.dispose()
  return stopReason === 'completed' ? { status: 'completed', output: textOf(output) } : stopReason === 'aborted' ? { status: 'killed' } : { status: 'failed', error: stopReason }
}

function inBackground(app: App, owner: Agent, label: string): Task {
  return app.ctx.tasks.start({ kind: 'subagent', label, owner, run: async signal => outcomeOf(await delegate(app, owner, label, signal)) })
}

function labelOf(request: ModelRequest): string {
  return (request.providerOptions!['offshoot'] as { label: string }).label
}

describe('a child with a background task of its own', () => {
  /** A child that begins a task, says so, and reads what becomes of it. */
  async function childWithTask(): Promise<{ app: App, parent: Agent, run: SubagentRun, controller: AbortController, job: () => Job }> {
    const app = await startWithChildren(request => {
      if (lastText(request) === 'Go.') return { calls: [{ name: 'begin' }] }
      return lastText(request).startsWith('<task-notice') ? `I read: ${lastText(request)}` : 'It has begun.'
    })
    let job: Job | undefined
    app.ctx.tools.register(defineTool({
      name: 'begin', description: 'Begins.', parameters: Type.Object({}),
      execute: (_args, { agent }) => { job = startJob(app.ctx, agent!); return 'begun' },
    }))
    const parent = app.ctx.agents.create()
    const controller = new AbortController()
    const run = await delegate(app, parent, 'child', controller.signal)
    await rest()
    return { app, parent, run, controller, job: () => job! }
  }

  it('has ended only after it has read that task\'s result: its own result is the answer it gave then', async () => {
    const { app, run, job } = await childWithTask()
    let ended = false
    void run.result.then(() => { ended = true })
    await rest()
    expect([ended, run.agent!.state, app.ctx.subagents.tree()]).toMatchObject([false, 'idle', [{}]])
    job().complete('It is blue.')
    expect(await run.result).toMatchObject({ stopReason: 'completed', output: [{ text: `I read: ${notice('job-1', 'It is blue.')}` }], usage: { steps: 3 } })
    await run.dispose()
  })

  it('that fails, too', async () => {
    const { run, job } = await childWithTask()
    job().fail(new Error('no luck'))
    expect(await run.result).toMatchObject({ output: [{ text: `I read: ${notice('job-1', 'no luck', 'failed')}` }] })
    await run.dispose()
  })

  it('is aborted while it waits for the task, which goes with it', async () => {
    const { app, parent, run, controller, job } = await childWithTask()
    controller.abort(new Error('enough'))
    expect(await run.result).toMatchObject({ stopReason: 'aborted' })
    await run.dispose()
    expect(job().task.status).toBe('killed')
    expect(app.ctx.agents.list()).toEqual([parent])
    expect(app.model.requests).toHaveLength(2)
  })

  it('as a task of its parent: that task settles after the child\'s own, and the parent is told once, with the last answer', async () => {
    const jobs: Job[] = []
    const app = await startWithChildren(request => {
      if (labelOf(request) === 'main') return 'ok'
      if (lastText(request) !== 'Go.') return 'the last answer'
      jobs.push(startJob(app.ctx, app.ctx.agents.list().at(-1)!))
      return 'the first answer'
    })
    const parent = app.ctx.agents.create()
    const task = inBackground(app, parent, 'child')
    await rest()
    expect([task.status, app.model.requests.length]).toEqual(['running', 1])
    jobs[0]!.complete()
    await parent.untilQuiet()
    expect(noticesIn(parent.session)).toEqual([notice('subagent-1', 'the last answer')])
  })
})

describe('cancelling', () => {
  interface Tree {
    readonly app: App
    readonly root: Agent
    readonly turn: Promise<unknown>
    /** Labels of the agents that live. */
    live(): string[]
    task(label: string): Task
  }

  /**
   * Two levels of delegation, each agent with a child in the background (`-bg`) and one that it waits for (`-fg`);
   * the models of the four at the bottom never answer.
   */
  async function tree(): Promise<Tree> {
    const all = gate()
    let bottom = 0
    const app: App = await startWithChildren(request => {
      const depth = labelOf(request).split('-').length - 1
      if (lastText(request) === 'And now?') return 'I see.'
      if (depth < 2) return { calls: [{ name: 'spread' }] }
      if (++bottom === 4) all.open()
      return { hold: never }
    })
    app.ctx.tools.register(defineTool({
      name: 'spread', description: 'Delegates twice.', parameters: Type.Object({}),
      async execute(_args, { agent, signal }) {
        inBackground(app, agent!, `${agent!.label}-bg`)
        const { status } = await outcomeOf(await delegate(app, agent!, `${agent!.label}-fg`, signal!))
        return status
      },
    }))
    const root = app.ctx.agents.create({ label: 'root' })
    const turn = root.run('Go.')
    await all.opened
    return { app, root, turn, live: () => app.ctx.agents.list().map(({ label }) => label).sort(), task: label => app.ctx.tasks.list().find(each => each.label === label)! }
  }

  it('the turn ends the children that are waited for, with all that is theirs; those in the background live on', async () => {
    const { app, root, turn, live, task } = await tree()
    expect(live()).toHaveLength(7)
    root.abort(new Error('enough'))
    expect(await turn).toMatchObject({ stopReason: 'aborted', diagnostic: 'enough' })
    expect(live()).toEqual(['root', 'root-bg', 'root-bg-bg', 'root-bg-fg'])
    expect([task('root-bg').status, task('root-bg-bg').status, task('root-fg-bg').status]).toEqual(['running', 'running', 'killed'])
    expect(app.ctx.agents.list().filter(({ state }) => state === 'running').map(({ label }) => label).sort()).toEqual(['root-bg', 'root-bg-fg', 'root-bg-bg'].sort())
  })

  it('the tree ends everything, each parent before its children, and no notice wakes what was aborted', async () => {
    const { app, root, turn, live, task } = await tree()
    const cancelled: string[] = []
    app.ctx.on('agent/cancelled', ({ label }) => { cancelled.push(label) })
    const requests = app.model.requests.length
    root.abort(new Error('enough'), { scope: 'tree' })
    expect(cancelled.filter(label => !label.includes('-fg')).slice(0, 3)).toEqual(['root', 'root-bg', 'root-bg-bg'])
    expect(await turn).toMatchObject({ stopReason: 'aborted' })
    await rest()
    expect(live()).toEqual(['root'])
    for (const label of ['root-bg', 'root-bg-bg', 'root-fg-bg']) expect(task(label)).toMatchObject({ status: 'killed' })
    expect(task('root-bg').reason).toBe('enough')
    expect([root.state, root.isBusy, app.model.requests.length]).toEqual(['idle', false, requests])
    // It is told at its next input.
    await root.run('And now?')
    expect(noticesIn(root.session)).toEqual([notice(task('root-bg').id, 'enough', 'killed')])
  })

  it('the tree twice, or once nothing is left of it, is no error and changes nothing', async () => {
    const { app, root, turn, live, task } = await tree()
    root.abort(new Error('enough'), { scope: 'tree' })
    root.abort(new Error('once more'), { scope: 'tree' })
    await turn
    await rest()
    root.abort(new Error('and again'), { scope: 'tree' })
    await rest()
    expect(live()).toEqual(['root'])
    expect(task('root-bg')).toMatchObject({ status: 'killed', reason: 'enough' })
    expect(app.ctx.subagents.tree()).toEqual([])
  })

  it('one child ends it with everything below; its parent and siblings go on, and the parent is told', async () => {
    const { app, root, live, task } = await tree()
    await app.ctx.tasks.kill(task('root-bg').id, 'no longer needed')
    expect(live()).toEqual(['root', 'root-fg', 'root-fg-bg', 'root-fg-fg'])
    expect(root.state).toBe('running')
    expect([task('root-bg').status, task('root-bg-bg').status, task('root-fg-bg').status]).toEqual(['killed', 'killed', 'running'])
    await app.ctx.tasks.kill(task('root-fg-bg').id, 'not that either')
    expect(live()).toEqual(['root', 'root-fg', 'root-fg-fg'])
  })

  it('the whole agent, by its disposal, leaves nothing', async () => {
    const { app, root, live, task } = await tree()
    await root.dispose()
    expect([live(), app.ctx.subagents.tree()]).toEqual([[], []])
    for (const label of ['root-bg', 'root-bg-bg', 'root-fg-bg']) expect(task(label).status).toBe('killed')
  })

  it('a parent whose child is killed at the same moment, before or after, is not woken by it', async () => {
    for (const order of ['parent first', 'child first']) {
      const { app, root, turn, task } = await tree()
      const requests = app.model.requests.length
      const acts = [() => { root.abort(new Error('enough')) }, () => { void app.ctx.tasks.kill(task('root-bg').id, 'no longer needed') }]
      for (const act of order === 'parent first' ? acts : acts.reverse()) act()
      await turn
      await rest()
      expect([task('root-bg').status, task('root-bg').delivery, app.model.requests.length]).toEqual(['killed', 'undelivered', requests])
    }
  })
})
