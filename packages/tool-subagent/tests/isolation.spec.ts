import * as toolShell from '@offshoot/tool-shell'
import WorktreeService from '@offshoot/worktree'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { git, newRepo } from '../../../tests/git.ts'
import { App, gate, inBackground, lastMessage, type ToolConfig } from './support.ts'

interface Isolating {
  readonly app: App
  readonly repo: string
  readonly trees: string
}

/** An app that isolates, and a repository with one commit. */
async function start(config: ToolConfig = {}): Promise<Isolating> {
  const { repo, trees } = newRepo({ 'in/a.txt': 'a' })
  const app = await App.start([{ provider: 'spawn', isolation: 'worktree', ...config }])
  onTestFinished(() => app[Symbol.asyncDispose]())
  await app.ctx.plugin(toolShell, {})
  await app.ctx.plugin(WorktreeService, { dir: trees, timeoutMs: 20_000 })
  return { app, repo, trees }
}

const call = async ({ app }: Isolating, cwd: string, more: object = {}, signal?: AbortSignal): Promise<string> => {
  const agent = app.ctx.agents.create({ cwd })
  const { content } = await agent.tools.execute('subagent', { description: 'd', prompt: 'Work.', ...more }, { callId: 'c', agent, ...signal ? { signal } : {} })
  return content.map(block => block.type === 'text' ? block.text : '').join('')
}

const left = ({ repo, trees }: Isolating): unknown => ({ worktrees: git(repo, 'worktree', 'list').split('\n').length - 1, trees: existsSync(trees) ? readdirSync(trees).length : 0 })

it('a worktree in which nothing was changed goes with its child, and that is said after its answer', async () => {
  const isolating = await start()
  isolating.app.endpoint.respond(() => ({ text: 'I looked.' }))
  expect(await call(isolating, isolating.repo)).toMatch(/^I looked\.\n\n<worktree path=".*\/trees\/tree-\w+" commits="0">\nNothing was changed; it was removed\.\n<\/worktree>$/)
  expect(left(isolating)).toEqual({ worktrees: 0, trees: 0 })
})

it('a child works as far below the worktree as its parent does below the checkout', async () => {
  const isolating = await start()
  isolating.app.endpoint.respond(request => lastMessage(request).role === 'tool' ? { text: lastMessage(request).content as string } : { calls: [{ name: 'shell', arguments: { command: 'pwd; ls' } }] })
  expect(await call(isolating, join(isolating.repo, 'in'))).toMatch(/^.*\/trees\/tree-\w+\/in\na\.txt\n/)
})

it('what a child that failed has changed is kept, and said with the failure', async () => {
  const isolating = await start()
  isolating.app.endpoint.respond(request => lastMessage(request).role === 'tool' ? { status: 400, error: 'no' } : { calls: [{ name: 'shell', arguments: { command: 'touch new' } }] })
  expect(await call(isolating, isolating.repo)).toMatch(/^Error: subagent run failed\n\n<worktree path=".*" commits="0">\nnew\n<\/worktree>$/)
  expect(left(isolating)).toEqual({ worktrees: 1, trees: 1 })
})

it('in the background the notice says it', async () => {
  const isolating = await start()
  const { app, repo } = isolating
  app.endpoint.respond(request => {
    const { role, content } = lastMessage(request)
    if (content === 'Go.') return { calls: [{ name: 'subagent', arguments: inBackground }] }
    return { text: role === 'tool' ? 'Waiting.' : content === inBackground.prompt ? 'I looked.' : `heard: ${content as string}` }
  })
  const { output } = await app.ctx.agents.create({ cwd: repo }).runToQuiet('Go.')
  expect(output).toMatchObject([{ text: expect.stringMatching(/status="completed">I looked\.\n\n<worktree path=".*" commits="0">\nNothing was changed; it was removed\./) }])
  expect(left(isolating)).toEqual({ worktrees: 0, trees: 0 })
})

it.each([['in the foreground', {}], ['in the background', { run_in_background: true }]])('an abort or a kill %s leaves no worktree that nobody worked in', async (_, more) => {
  const isolating = await start()
  const { app, repo } = isolating
  const asked = gate()
  app.endpoint.respond(() => {
    asked.open()
    return { hold: new Promise(() => {}) }
  })
  const controller = new AbortController()
  const answer = call(isolating, repo, more, controller.signal)
  await asked.opened
  if ('run_in_background' in more) await app.ctx.tasks.kill('subagent-1', 'not needed')
  else controller.abort(new Error('enough'))
  expect(await answer).toContain('run_in_background' in more ? 'started background subagent task subagent-1' : 'Error: subagent run was cancelled')
  expect(left(isolating)).toEqual({ worktrees: 0, trees: 0 })
})

it('without a repository there is no child, and it is said why', async () => {
  const isolating = await start()
  expect(await call(isolating, '/')).toMatch(/^Error: \/ is in no git repository \(fatal: /)
  expect(isolating.app.endpoint.requests).toEqual([])
})

it('the tool comes and goes with what makes worktrees', async () => {
  const app = await App.start([{ provider: 'spawn', isolation: 'worktree' }])
  onTestFinished(() => app[Symbol.asyncDispose]())
  expect(app.ctx.tools.list()).not.toContain('subagent')
  const plugin = await app.ctx.plugin(WorktreeService, { timeoutMs: 20_000 })
  expect(app.ctx.tools.core.tools.get('subagent')!.spec.description).toContain('Each subagent works in a git worktree of its own')
  await plugin.dispose()
  expect(app.ctx.tools.list()).not.toContain('subagent')
})
