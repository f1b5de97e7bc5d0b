import type { SubagentStartRequest } from '@offshoot/subagent'
import { textOf } from '@offshoot/session'
import { expect, it } from 'vitest'
import { App, delegate, isChild, lastOf } from './support.ts'

async function startWith(overrides: Partial<SubagentStartRequest>): Promise<App> {
  const app = await App.start({ runtime: { agent: { model: 'main', persona: 'You are the app.' } } })
  const parent = app.agent()
  await parent.run('First.')
  await using run = await app.ctx.subagents.start('fork', { prompt: 'Go.', parent, signal: new AbortController().signal, ...overrides })
  expect((await run.result).stopReason).toBe('completed')
  return app
}

it.each<[string, Partial<SubagentStartRequest>, string[]]>([
  ['nothing, for a plain request', {}, []],
  ['nothing, for the persona that the parent has anyway', { persona: 'You are the app.' }, []],
  ['nothing, for a filter that hides nothing', { toolFilter: { deny: ['no_such_tool'] } }, []],
  ['nothing, for the parent\'s model by name', { agentOptions: { model: 'main' } }, []],
  ['the system text, for a persona', { persona: 'You are a critic.' }, ['system']],
  ['the system text, for another working directory', { cwd: '/' }, ['system']],
  ['the tools, for a filter', { toolFilter: { allow: ['look_up'] } }, ['tools']],
  ['the model, for another one', { agentOptions: { model: 'other' } }, ['model']],
  ['all of them', { persona: 'You are a critic.', toolFilter: { allow: [] }, agentOptions: { model: 'other' } }, ['system', 'tools', 'model']],
])('says what moved the prefix, and that the cache is cold if anything did: %s', async (_title, overrides, moved) => {
  await using app = await startWith(overrides)
  const [info] = app.started
  expect(info!.seed).toEqual({ turns: 1, steps: 0, moved, coldCache: moved.length > 0 })
  const [parent, child] = app.endpoint.requests
  const really = [
    ...(child!.body.messages[0]!.content === parent!.body.messages[0]!.content ? [] : ['system']),
    ...(JSON.stringify(child!.body.tools) === JSON.stringify(parent!.body.tools) ? [] : ['tools']),
    ...(child!.body.model === parent!.body.model ? [] : ['model']),
  ]
  expect(really).toEqual(moved)
})

it('tells a child that works elsewhere where that is, and that what is above names another place', async () => {
  await using app = await startWith({ cwd: '/' })
  const [, child] = app.endpoint.requests
  const { content } = child!.body.messages.at(-1)!
  expect(content).toMatch(/^You are now a subagent: .* Your working directory is \/, a checkout of your own: where anything above names a file or folder elsewhere, .*\n\nGo\.$/)
  expect(content).not.toContain(process.cwd())
})

it('tells both events the same, frozen, and the tree too', async () => {
  await using app = await App.start()
  const parent = app.agent()
  await parent.run('First.')
  await using run = await app.ctx.subagents.start('fork', { prompt: 'Go.', parent, signal: new AbortController().signal })
  const [node] = app.ctx.subagents.tree()
  await run.result
  const [info] = app.started
  expect(app.ended[0]![0]).toBe(info)
  expect(node!.seed).toBe(info!.seed)
  expect([info, info!.seed, info!.seed!.moved].map(value => Object.isFrozen(value))).toEqual([true, true, true])
})

it('is told of forks alone', async () => {
  await using app = await App.start()
  await using run = await app.ctx.subagents.start('spawn', { prompt: 'Go.', parent: app.agent(), signal: new AbortController().signal })
  await run.result
  expect(app.started[0]).not.toHaveProperty('seed')
})

it('counts the turns that notices began, and none that left nothing', async () => {
  await using app = await App.start()
  const parent = app.agent()
  await parent.run('First.')
  parent.inject({ text: () => 'Something ended.', delivered: () => {} })
  await parent.untilQuiet()
  await using run = await app.ctx.subagents.start('fork', { prompt: 'Go.', parent, signal: new AbortController().signal })
  await run.result
  expect(app.started[0]!.seed?.turns).toBe(2)
})

it('ends empty-output when the child says nothing, never with a text of the seed', async () => {
  await using app = await App.start()
  const parent = app.agent()
  app.script(() => ({ text: 'The answer of the seed.' }))
  await parent.run('First.')
  app.script(request => isChild(request) ? {} : lastOf(request).role === 'tool' ? { text: 'Pity.' } : { calls: [delegate()] })
  await parent.run('Second.')
  expect(app.ended[0]![1]).toMatchObject({ stopReason: 'empty-output', output: [] })
  expect(textOf(app.ended[0]![1].output)).toBe('')
  expect(lastOf(app.parents.at(-1)!).content).toBe('Error: subagent run ended abnormally (empty-output)')
})
