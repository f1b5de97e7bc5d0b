import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { expect, it } from 'vitest'
import { found, gate, start, startWork, toldTo } from './support.ts'

const waiting = { name: 'task_output', args: { task_id: 'subagent-1', wait: true } }

it('a wait in a turn is what the turn is doing, and ends with the task, whose text enters the log once', async () => {
  const app = await start((_request, index) => index === 0 ? { calls: [waiting] } : 'Done.')
  const agent = app.ctx.agents.create()
  const { task, end } = startWork(app, agent)
  const atWork = gate()
  agent.on(event => { if (event.type === 'tool-start') atWork.open() })
  const turn = agent.run('Go.')
  await atWork.opened
  expect(agent.progress).toMatchObject({ step: 1, tool: 'task_output' })
  await end(found)
  expect(await turn).toMatchObject({ stopReason: 'completed', output: [{ text: 'Done.' }] })
  await agent.untilQuiet()
  expect(toldTo(app)).toEqual(['Go.', 'Found it.'])
  expect(task.delivery).toBe('consumed')
})

it('a wait holds up none of its siblings, whatever their place', async () => {
  const app = await start((_request, index) => index === 0 ? { calls: [{ name: 'quick' }, waiting, { name: 'quick' }, { name: 'task_list' }] } : 'Done.')
  let ran = 0
  const both = gate()
  app.ctx.tools.register(defineTool({
    name: 'quick', description: 'q', parameters: Type.Object({}), concurrency: 'parallel',
    execute: () => {
      if (++ran === 2) both.open()
      return 'quickly'
    },
  }))
  const agent = app.ctx.agents.create()
  const { task, end } = startWork(app, agent)
  const turn = agent.run('Go.')
  await both.opened
  expect(task.status).toBe('running')
  await end(found)
  await turn
  expect(toldTo(app)).toEqual(['Go.', 'quickly', 'Found it.', 'quickly', 'subagent-1 (look it up): running, 0 s'])
})

it('a wait keeps no other agent from its work', async () => {
  const app = await start(({ prompt }) => JSON.stringify(prompt).includes('Wait.') ? { calls: [waiting] } : 'Worked.')
  const [agent, other] = [app.ctx.agents.create({ maxSteps: 1 }), app.ctx.agents.create()]
  const { end } = startWork(app, agent)
  const turn = agent.run('Wait.')
  expect(await other.run('Work.')).toMatchObject({ output: [{ text: 'Worked.' }] })
  expect(agent.state).toBe('running')
  await end(found)
  await turn
})

it('a turn that is aborted during a wait ends at once; the task lives on, and its result is told at the next input', async () => {
  const app = await start((_request, index) => index === 0 ? { calls: [waiting] } : 'Done.')
  const agent = app.ctx.agents.create()
  const { task, end } = startWork(app, agent)
  agent.on(event => { if (event.type === 'tool-start') agent.abort(new Error('enough')) })
  expect(await agent.run('Go.')).toMatchObject({ stopReason: 'aborted' })
  expect(task.status).toBe('running')
  await end(found)
  await agent.run('And now?')
  expect(toldTo(app)).toEqual(['Go.', 'Error: enough', '<task-notice task="subagent-1" status="completed">Found it.</task-notice>', 'And now?'])
})

it('a result that comes in the tick of an abort enters the log once all the same', async () => {
  const app = await start((_request, index) => index === 0 ? { calls: [waiting] } : 'Done.')
  const agent = app.ctx.agents.create()
  const { end } = startWork(app, agent)
  const atWork = gate()
  agent.on(event => { if (event.type === 'tool-start') atWork.open() })
  const turn = agent.run('Go.')
  await atWork.opened
  const ended = end(found)
  app.ctx.on('task/settled', () => { agent.abort(new Error('enough')) })
  await ended
  expect(await turn).toMatchObject({ stopReason: 'aborted' })
  await agent.run('And now?')
  expect(toldTo(app).filter(text => text.includes('Found it.'))).toHaveLength(1)
})

it('a task that is killed in the step that waits for it answers both calls, and is not told again', async () => {
  const app = await start((_request, index) => index === 0 ? { calls: [waiting, { name: 'task_kill', args: { task_id: 'subagent-1', reason: 'enough' } }] } : 'Done.')
  const agent = app.ctx.agents.create()
  startWork(app, agent)
  await agent.run('Go.')
  await agent.untilQuiet()
  expect(app.model.requests).toHaveLength(2)
  expect(toldTo(app)).toEqual(['Go.', 'Error: subagent-1 was killed: enough', 'subagent-1 was killed: enough'])
})

it('disposing an agent ends its wait', async () => {
  const app = await start(() => ({ calls: [waiting] }))
  const agent = app.ctx.agents.create()
  const { task } = startWork(app, agent)
  const atWork = gate()
  agent.on(event => { if (event.type === 'tool-start') atWork.open() })
  const turn = agent.run('Go.')
  await atWork.opened
  await agent.dispose()
  expect(await turn).toMatchObject({ stopReason: 'aborted' })
  expect(task.status).toBe('killed')
})
