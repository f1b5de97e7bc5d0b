import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import WorktreeService from '@offshoot/worktree'
import * as toolFanout from '../src/index.ts'
import { collect, gate, git, lastText, newFolder, newRepo, spawn, startApp } from './support.ts'

const many = 64
const tasks = Array.from({ length: many }, (_, index) => `task ${index}`)
const ids = tasks.map((_, index) => `sub-${index}`)
const shuffled = <T>(items: readonly T[]): T[] => items.map((item, index) => [((index + 1) * 37) % 101, item] as const).sort(([a], [b]) => a - b).map(([, item]) => item)

describe('64 children', () => {
  it('are collected in any order, and again: nothing is lost or doubled, and pending returns to 0', async () => {
    const { ctx } = await startApp(request => `did ${lastText(request)}`)
    const agent = ctx.agents.create()
    const spawned = []
    for (const task of tasks) spawned.push((await spawn(agent, { task })).text)
    expect(spawned).toEqual(ids)
    expect(ctx.fanout).toMatchObject({ pendingCount: many, spawnCount: many })
    for (let time = 0; time < 2; time++) {
      for (const id of shuffled(ids)) expect(await collect(agent, id)).toEqual({ isError: false, text: `did task ${id.slice(4)}` })
      expect(ctx.fanout.pendingCount).toBe(0)
    }
    expect(ctx.tasks.list(agent).map(({ notice, delivery }) => [notice, delivery])).toEqual(tasks.map(() => ['none', 'consumed']))
  })

  it('are at work at once, as many as the app lets, and are waited for side by side', async () => {
    const begun = gate()
    let count = 0
    const { ctx } = await startApp(async () => {
      // Of the first sixteen, each goes on once all have begun.
      if (++count === 16) begun.open()
      await begun.opened
      return 'ok'
    })
    const agent = ctx.agents.create()
    for (const task of tasks) await spawn(agent, { task })
    expect((await Promise.all(ids.map(id => collect(agent, id)))).every(({ text }) => text === 'ok')).toBe(true)
  })

  it('an interrupted collect loses nothing', async () => {
    const release = gate()
    const { ctx } = await startApp(() => ({ text: 'ok', hold: release.opened }))
    const agent = ctx.agents.create()
    for (const task of tasks) await spawn(agent, { task })
    const controller = new AbortController()
    const waiting = ids.map(id => collect(agent, id, {}, controller.signal))
    controller.abort(new Error('enough'))
    expect((await Promise.all(waiting)).every(({ isError }) => isError)).toBe(true)
    expect(await collect(agent, 'sub-0', { timeout_ms: 0 })).toMatchObject({ isError: true, text: expect.stringContaining('has not ended') })
    expect(ctx.fanout.pendingCount).toBe(many)
    release.open()
    for (const id of shuffled(ids)) expect(await collect(agent, id)).toEqual({ isError: false, text: 'ok' })
    expect(ctx.fanout.pendingCount).toBe(0)
  })

  it('outlive the turn that spawned them, also where that is aborted', async () => {
    const release = gate()
    const { ctx } = await startApp(request => {
      if (lastText(request) === 'Go.') return { calls: tasks.map(task => ({ name: 'spawn_subagent', args: { task } })) }
      if (lastText(request).startsWith('sub-')) return { hold: new Promise(() => {}) }
      return { text: `did ${lastText(request)}`, hold: release.opened }
    })
    const agent = ctx.agents.create()
    const controller = new AbortController()
    const turn = agent.run('Go.', { signal: controller.signal })
    await expect.poll(() => ctx.fanout.spawnCount).toBe(many)
    controller.abort(new Error('enough'))
    expect(await turn).toMatchObject({ stopReason: 'aborted' })
    release.open()
    for (const id of shuffled(ids)) expect(await collect(agent, id)).toEqual({ isError: false, text: `did task ${id.slice(4)}` })
  })

  it('one that failed, and one that was killed, take nothing from the others', async () => {
    const { ctx } = await startApp(request => {
      const task = lastText(request)
      if (task === 'task 7') return { error: new Error('no') }
      if (task === 'task 8') return { hold: new Promise(() => {}) }
      return 'ok'
    })
    const agent = ctx.agents.create()
    for (const task of tasks) await spawn(agent, { task })
    await ctx.tasks.kill('fanout-9', 'not needed')
    const answers = await Promise.all(ids.map(id => collect(agent, id)))
    expect(answers.flatMap(({ isError, text }, index) => isError ? [`${index}: ${text}`] : [])).toEqual(['7: Error: subagent run failed', '8: Error: subagent run was cancelled'])
    expect(await collect(agent, 'sub-8')).toEqual(answers[8])
    expect(ctx.fanout.pendingCount).toBe(0)
  })
})

it('what another agent spawned is not collected, and its own ids are named', async () => {
  const { ctx } = await startApp(() => 'ok')
  const [one, other] = [ctx.agents.create(), ctx.agents.create()]
  await spawn(one, { task: 'a' })
  await spawn(other, { task: 'b' })
  expect(await collect(other, 'sub-0')).toEqual({ isError: true, text: 'Error: there is no child "sub-0" to collect (yours: sub-1)' })
  expect(await collect(one, 'sub-0')).toEqual({ isError: false, text: 'ok' })
})

it('an agent that is gone leaves nobody pending', async () => {
  const { ctx } = await startApp(() => ({ hold: new Promise(() => {}) }))
  const agent = ctx.agents.create()
  await spawn(agent, { task: 'a' })
  await agent.dispose()
  expect(ctx.fanout.pendingCount).toBe(0)
  expect(await ctx.fanout.collect('sub-0')).toMatchObject({ exitOk: false, stopReason: 'aborted' })
})

it('a model spawns and collects in its turns, and reads each result once', async () => {
  const { ctx } = await startApp(request => {
    const text = lastText(request)
    if (text === 'Go.') return { calls: [{ name: 'spawn_subagent', args: { task: 'one' } }, { name: 'spawn_subagent', args: { task: 'two' } }] }
    if (text === 'sub-0sub-1' || text === 'sub-1') return { calls: [{ name: 'collect_subagent', args: { subagent_id: 'sub-1' } }, { name: 'collect_subagent', args: { subagent_id: 'sub-0' } }] }
    return text.startsWith('did') ? `read: ${text}` : `did ${text}`
  })
  const agent = ctx.agents.create()
  const { output } = await agent.runToQuiet('Go.')
  expect(output).toMatchObject([{ text: 'read: did twodid one' }])
  expect(agent.session.entries().filter(({ source }) => source !== undefined)).toEqual([])
})

it('at the cap a spawn is refused before git is asked for anything', async () => {
  const { repo, trees } = newRepo()
  const { ctx } = await startApp(() => 'ok', { maxPending: 1 }, trees)
  const agent = ctx.agents.create({ cwd: repo })
  await spawn(agent, { task: 'a' })
  const bin = newFolder()
  writeFileSync(join(bin, 'git'), `#!/bin/sh\ntouch "${bin}/asked"\nexit 1\n`)
  chmodSync(join(bin, 'git'), 0o755)
  vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`)
  expect(await spawn(agent, { task: 'b', worktree: { path: 'one' } })).toMatchObject({ isError: true, text: expect.stringContaining('1 children await collection and 1 may') })
  expect(existsSync(join(bin, 'asked'))).toBe(false)
  // The same one, where there is room, does ask.
  await collect(agent, 'sub-0')
  expect(await spawn(agent, { task: 'b', worktree: { path: 'one' } })).toMatchObject({ isError: true })
  expect(existsSync(join(bin, 'asked'))).toBe(true)
  vi.unstubAllEnvs()
  expect(ctx.fanout).toMatchObject({ pendingCount: 0, spawnCount: 1 })
  expect(git(repo, 'worktree', 'list').split('\n')).toHaveLength(1)
})

it('an abort while its worktree is made leaves no child, no tree and no id behind', async () => {
  const { repo, trees } = newRepo()
  const { ctx } = await startApp(() => 'ok', {}, trees)
  const agent = ctx.agents.create({ cwd: repo })
  const bin = newFolder()
  writeFileSync(join(bin, 'git'), `#!/bin/sh\ncase "$*" in *"worktree add"*) touch "${bin}/adding"; sleep 60;; esac\nPATH=\${PATH#*:} exec git "$@"\n`)
  chmodSync(join(bin, 'git'), 0o755)
  vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`)
  const controller = new AbortController()
  const spawning = spawn(agent, { task: 'a', worktree: { path: 'one' } }, controller.signal)
  await expect.poll(() => existsSync(join(bin, 'adding')), { timeout: 8000 }).toBe(true)
  expect(ctx.fanout.pendingCount).toBe(1)
  controller.abort(new Error('enough'))
  expect(await spawning).toMatchObject({ isError: true })
  vi.unstubAllEnvs()
  expect(ctx.fanout).toMatchObject({ pendingCount: 0, spawnCount: 0 })
  expect(existsSync(trees)).toBe(false)
  expect(await spawn(agent, { task: 'a', worktree: { path: 'one' } })).toEqual({ isError: false, text: 'sub-0' })
})

describe('five children in worktrees of their own', () => {
  it('write the same file, each its own; the parent\'s checkout stays clean', async () => {
    const { repo, trees } = newRepo()
    const begun = gate()
    let count = 0
    const { ctx } = await startApp(async request => {
      const text = lastText(request)
      const task = /^write (\d)$/.exec(text)
      if (!task) return text.trim()
      // All five are at it at once.
      if (++count === 5) begun.open()
      await begun.opened
      return { calls: [{ name: 'shell', args: { command: `echo content ${task[1]} > same.txt; pwd` } }] }
    }, {}, trees)
    const agent = ctx.agents.create({ cwd: repo })
    for (let i = 0; i < 5; i++) await spawn(agent, { task: `write ${i}`, worktree: { path: `tree ${i}` } })
    const answers = await Promise.all([0, 1, 2, 3, 4].map(i => collect(agent, `sub-${i}`)))
    for (const [i, { isError, text }] of answers.entries()) {
      const path = join(trees, `tree ${i}`)
      expect(isError).toBe(false)
      expect(text).toContain(`${path}\n`)
      expect(text).toContain(`<worktree path="${path}" commits="0">\nsame.txt\n</worktree>`)
      expect(readFileSync(join(path, 'same.txt'), 'utf8')).toBe(`content ${i}\n`)
    }
    expect(git(repo, 'status', '--porcelain')).toBe('')
  })

  it('read and write nothing of the parent\'s checkout with file tools', async () => {
    const { repo, trees } = newRepo()
    const { ctx } = await startApp(request => {
      const text = lastText(request)
      return text === 'go' ? { calls: [{ name: 'write_file', args: { path: join(repo, 'b.txt'), content: 'b' } }, { name: 'read_file', args: { path: '../../repo/a.txt' } }] } : text
    }, {}, trees)
    const agent = ctx.agents.create({ cwd: repo })
    await spawn(agent, { task: 'go', worktree: { path: 'one' } })
    const { text } = await collect(agent, 'sub-0')
    expect(text.match(/leads outside the working directory/g)).toHaveLength(2)
    expect(git(repo, 'status', '--porcelain')).toBe('')
  })
})

describe('the plugin', () => {
  it('offers its tools while its provider is there, with a worktree where the app makes some', async () => {
    const { ctx } = await startApp(() => 'ok', { provider: 'mine' })
    const names = (): string[] => ctx.tools.list().filter(name => name.includes('subagent'))
    expect(names()).toEqual([])
    const spawnProvider = ctx.subagents.getProvider('spawn')!
    const remove = ctx.subagents.registerProvider({ ...spawnProvider, name: 'mine', start: request => spawnProvider.start(request) })
    expect(names()).toEqual(['collect_subagent', 'spawn_subagent'])
    expect(JSON.stringify(ctx.tools.core.tools.get('spawn_subagent')!.spec)).not.toContain('worktree')
    void remove()
    expect(names()).toEqual([])
  })

  it('offers a worktree as long as the app makes some, whichever was loaded first', async () => {
    const { ctx } = await startApp(() => 'ok')
    const offers = (): boolean => 'worktree' in (ctx.tools.core.tools.get('spawn_subagent')!.spec.inputSchema.properties ?? {})
    expect(offers()).toBe(false)
    const plugin = await ctx.plugin(WorktreeService, { timeoutMs: 20_000 })
    expect(offers()).toBe(true)
    await plugin.dispose()
    expect(offers()).toBe(false)
  })

  it('comes twice, with names of its own; ctx.fanout is the first one\'s', async () => {
    const { ctx } = await startApp(() => 'ok')
    await ctx.plugin(toolFanout, { provider: 'fork', spawnToolName: 'spawn_fork', collectToolName: 'collect_fork', maxPending: 3 })
    const agent = ctx.agents.create()
    expect(ctx.fanout.maxPending).toBe(1024)
    expect(await spawn(agent, { task: 'a' })).toMatchObject({ text: 'sub-0' })
    expect(ctx.tools.list()).toEqual(expect.arrayContaining(['spawn_fork', 'collect_fork']))
    await expect(ctx.plugin(toolFanout, { provider: 'fork' })).rejects.toThrow('spawn_subagent')
  })

  it('refuses a tool scope where its provider cannot hold to one', async () => {
    const { ctx } = await startApp(() => 'ok', { provider: 'odd' })
    ctx.subagents.registerProvider({ name: 'odd', inheritsParentContext: false, capabilities: { outputSchema: false, depthLimit: false, toolFilter: false, persona: false }, start: () => Promise.reject(new Error('never')) })
    const agent = ctx.agents.create()
    expect(await spawn(agent, { task: 'a', tool_scope: ['shell'] })).toMatchObject({ isError: true, text: expect.stringContaining('toolFilter') })
    expect(await spawn(agent, { task: 'a' })).toEqual({ isError: false, text: 'sub-0' })
    expect(await collect(agent, 'sub-0')).toMatchObject({ isError: true, text: expect.stringContaining('never') })
  })
})
