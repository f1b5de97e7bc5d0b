import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DEFAULT_MAX_PENDING, FanoutError, MAX_SPAWN_LOG } from '../src/index.ts'
import { FanoutCore } from '../src/core.ts'
import { specOf } from '../src/spec.ts'
import { collect, git, newRepo, spawn, startApp } from './support.ts'

const services = { subagents: {} as never, tasks: () => undefined, worktrees: () => undefined }
const saying = (text: string) => startApp(() => text)

const codeOf = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    if (error instanceof FanoutError) return error.code
  }
  return 'none'
}

/** The Rust plugin's document, in its order: what it says, and where that is better here, why. */
const rows: readonly (readonly [says: string, better: string | undefined, holds: () => unknown])[] = [
  ['hooks: on_stream_chunk replaces tool call blocks', 'no counterpart: calls are tools of the agent, and every other call is another tool', () => {}],
  ['spawn answers the id sub-<n>, from a counter of the plugin', undefined, async () => {
    const { ctx } = await saying('ok')
    const agent = ctx.agents.create()
    expect([await spawn(agent, { task: 'a' }), await spawn(agent, { task: 'b' })]).toEqual([{ isError: false, text: 'sub-0' }, { isError: false, text: 'sub-1' }])
  }],
  ['spawning does not block', undefined, async () => {
    const { ctx } = await startApp(() => ({ hold: new Promise(() => {}) }))
    expect(await spawn(ctx.agents.create(), { task: 'a' })).toEqual({ isError: false, text: 'sub-0' })
  }],
  ['collect waits, and answers the summary', 'it blocks no thread: others go on', async () => {
    const { ctx } = await saying('the summary')
    const agent = ctx.agents.create()
    await spawn(agent, { task: 'a' })
    expect(await collect(agent, 'sub-0')).toEqual({ isError: false, text: 'the summary' })
  }],
  ['a failure answers the error text', 'marked as an error', async () => {
    const { ctx } = await startApp(() => ({ error: new Error('no') }))
    const agent = ctx.agents.create()
    await spawn(agent, { task: 'a' })
    expect(await collect(agent, 'sub-0')).toEqual({ isError: true, text: 'Error: subagent run failed' })
  }],
  ['task is required and must not be blank', undefined, () => {
    for (const args of [{}, { task: ' ' }, { task: 1 }]) expect(codeOf(() => specOf(args))).toBe('VALIDATION')
  }],
  ['name: default the empty string', undefined, () => { expect(specOf({ task: 'a' })).toMatchObject({ name: '' }) }],
  ['tool_scope: other than strings ignored, empty is unrestricted', undefined, () => {
    expect(specOf({ task: 'a', tool_scope: ['shell', 1, null] })).toMatchObject({ toolScope: ['shell'] })
    expect(specOf({ task: 'a' })).toMatchObject({ toolScope: [] })
  }],
  ['tool_scope: passed on, not enforced', 'enforced: a tool outside it is hidden and refused', async () => {
    const { ctx, model } = await saying('ok')
    const agent = ctx.agents.create()
    await spawn(agent, { task: 'a', tool_scope: ['read_file'] })
    await collect(agent, 'sub-0')
    expect(model.requests[0]!.tools?.map(({ name }) => name)).toEqual(['read_file'])
  }],
  ['worktree: an object with a path and an optional branch; default none', undefined, () => {
    expect(specOf({ task: 'a', worktree: { path: 'x', branch: 'y' } })).toMatchObject({ worktree: { path: 'x', branch: 'y' } })
    for (const worktree of ['x', [], {}, { path: 1 }, { path: ' ' }]) expect(codeOf(() => specOf({ task: 'a', worktree }))).toBe('VALIDATION')
  }],
  ['session_id: recorded in the spawn log', 'default: the caller\'s own session', async () => {
    const { ctx } = await saying('ok')
    const agent = ctx.agents.create()
    await spawn(agent, { task: 'a', session_id: 'theirs' })
    await spawn(agent, { task: 'a' })
    expect(ctx.fanout.spawns().map(({ parentSession }) => parentSession)).toEqual(['theirs', agent.session.id])
  }],
  ['with worktree, git worktree add runs first, in the working directory', 'after the cap is checked, in the caller\'s, without hooks, inside one folder', async () => {
    const { repo, trees } = newRepo()
    const { ctx, model } = await startApp(() => 'ok', {}, trees)
    const agent = ctx.agents.create({ cwd: repo })
    expect(await spawn(agent, { task: 'a', worktree: { path: 'one', branch: 'topic' } })).toEqual({ isError: false, text: 'sub-0' })
    expect(git(repo, 'worktree', 'list')).toContain(join(trees, 'one'))
    await collect(agent, 'sub-0')
    expect(JSON.stringify(model.requests[0]!.prompt)).toContain(join(trees, 'one'))
    expect(JSON.stringify(model.requests[0]!.prompt)).not.toContain(repo)
  }],
  ['the plugin never removes the worktree', 'unless it is told to, and nothing would be lost', async () => {
    const { repo, trees } = newRepo()
    for (const [worktree, stays] of [['keep', true], ['release-if-clean', false]] as const) {
      const { ctx } = await startApp(() => 'ok', { worktree }, trees)
      const agent = ctx.agents.create({ cwd: repo })
      await spawn(agent, { task: 'a', worktree: { path: worktree } })
      await collect(agent, 'sub-0')
      expect(existsSync(join(trees, worktree))).toBe(stays)
    }
  }],
  ['SubagentResult: subagent_id, summary, worktree_path, exit_ok', 'also the stop reason, and what was changed', async () => {
    const { repo, trees } = newRepo()
    const { ctx } = await startApp(() => 'ok', {}, trees)
    const id = await ctx.fanout.spawn({ task: 'a', worktree: { path: 'one' } }, { parent: ctx.agents.create({ cwd: repo }) })
    expect(await ctx.fanout.collect(id)).toEqual({
      subagentId: 'sub-0', summary: 'ok', exitOk: true, stopReason: 'completed', worktreePath: join(trees, 'one'), worktreeReleased: false, changes: { commits: 0, files: [] },
    })
  }],
  ['the tool result carries only the summary', 'and, of a child with a worktree, what is there', async () => {
    const { repo, trees } = newRepo()
    const { ctx } = await startApp(() => 'ok', {}, trees)
    const agent = ctx.agents.create({ cwd: repo })
    await spawn(agent, { task: 'a', worktree: { path: 'one', branch: 'topic' } })
    expect(await collect(agent, 'sub-0')).toEqual({ isError: false, text: `ok\n\n<worktree path="${join(trees, 'one')}" branch="topic" commits="0">\nNothing was changed.\n</worktree>` })
  }],
  ['on a current-thread runtime the child must have delivered before it is collected', 'no counterpart: waiting takes nothing from anybody', () => {}],
  ['methods: spawn_subagent, collect, pending_len, max_pending, spawn_count, spawns', undefined, async () => {
    const { ctx } = await saying('ok')
    expect(ctx.fanout).toMatchObject({ pendingCount: 0, maxPending: 1024, spawnCount: 0 })
    const id = await ctx.fanout.spawn({ task: 'a' }, { parent: ctx.agents.create() })
    expect(ctx.fanout).toMatchObject({ pendingCount: 1, spawnCount: 1 })
    await ctx.fanout.collect(id)
    expect(ctx.fanout).toMatchObject({ pendingCount: 0, spawnCount: 1 })
    expect(ctx.fanout.spawns()).toMatchObject([{ subagentId: 'sub-0', name: '' }])
  }],
  ['worktree_args: the dry run of git worktree add', 'worktreeAddArgs() of @offshoot/worktree', () => {}],
  ['no config struct', 'a plugin\'s config: provider, tool names, cap, worktree', () => {}],
  ['DEFAULT_MAX_PENDING is 1024', undefined, () => { expect(DEFAULT_MAX_PENDING).toBe(1024) }],
  ['a cap of zero is refused', 'by the config too, with its place', () => {
    expect(codeOf(() => new FanoutCore({ provider: 'spawn', maxPending: 0, worktree: 'keep' }, services))).toBe('VALIDATION')
  }],
  ['MAX_SPAWN_LOG is 4096, and cannot be set', undefined, () => { expect(MAX_SPAWN_LOG).toBe(4096) }],
  ['a full registry never evicts; collect drains it', undefined, async () => {
    const { ctx } = await startApp(() => 'ok', { maxPending: 2 })
    const agent = ctx.agents.create()
    for (const task of ['a', 'b']) await spawn(agent, { task })
    expect(await spawn(agent, { task: 'c' })).toEqual({ isError: true, text: 'Error: 2 children await collection and 2 may (maxPending); collect some first (yours: sub-0, sub-1)' })
    expect(await collect(agent, 'sub-1')).toEqual({ isError: false, text: 'ok' })
    expect(await spawn(agent, { task: 'c' })).toEqual({ isError: false, text: 'sub-2' })
    expect(await collect(agent, 'sub-0')).toEqual({ isError: false, text: 'ok' })
  }],
  ['errors of a spawn fail the stream', 'they are results: the parent reads them, and goes on', async () => {
    const { ctx } = await saying('ok')
    expect(await spawn(ctx.agents.create(), { task: ' ' })).toEqual({ isError: true, text: 'Error: "task" is missing or blank; it is all that the child is told' })
  }],
  ['Validation: no object', undefined, () => { for (const args of [undefined, null, 'a', ['a']]) expect(codeOf(() => specOf(args))).toBe('VALIDATION') }],
  ['NotSupported: a worktree that cannot be prepared', 'with git\'s own words; nothing is left behind', async () => {
    const { ctx } = await startApp(() => 'ok', {}, '/tmp/offshoot-never')
    const outside = ctx.agents.create({ cwd: '/' })
    await expect(ctx.fanout.spawn({ task: 'a', worktree: { path: 'one' } }, { parent: outside })).rejects.toMatchObject({ code: 'NOT_SUPPORTED', message: expect.stringContaining('fatal: not a git repository') })
    expect(ctx.fanout).toMatchObject({ pendingCount: 0, spawnCount: 0 })
    const { ctx: without } = await saying('ok')
    await expect(without.fanout.spawn({ task: 'a', worktree: { path: 'one' } }, { parent: without.agents.create() })).rejects.toMatchObject({ code: 'NOT_SUPPORTED', message: expect.stringContaining('load @offshoot/worktree') })
  }],
  ['Internal: at the cap, naming count and cap', 'and the ids that can be collected', async () => {
    const { ctx } = await startApp(() => 'ok', { maxPending: 1 })
    const parent = ctx.agents.create()
    await ctx.fanout.spawn({ task: 'a' }, { parent })
    await expect(ctx.fanout.spawn({ task: 'b' }, { parent })).rejects.toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('1 children await collection and 1 may') })
  }],
  ['collect without an id: Validation', 'a result, by the tool\'s schema', async () => {
    const { ctx } = await saying('ok')
    expect(await collect(ctx.agents.create(), 7 as never)).toMatchObject({ isError: true, text: expect.stringContaining('subagent_id') })
  }],
  ['NotSupported: an unknown id', 'with the caller\'s own', async () => {
    const { ctx } = await saying('ok')
    const agent = ctx.agents.create()
    await spawn(agent, { task: 'a' })
    await expect(ctx.fanout.collect('sub-9', { owner: agent })).rejects.toMatchObject({ code: 'NOT_SUPPORTED', message: 'there is no child "sub-9" to collect (yours: sub-0)' })
  }],
  ['Internal: a child that is lost', undefined, async () => {
    const { ctx } = await startApp(() => ({ hold: new Promise(() => {}) }))
    const id = await ctx.fanout.spawn({ task: 'a' }, { parent: ctx.agents.create() })
    await expect(ctx.fanout.collect(id, { timeoutMs: 1 })).rejects.toMatchObject({ code: 'INTERNAL', message: 'sub-0 has not ended after 1 ms; go on with other work, and collect it again' })
    expect(ctx.fanout.pendingCount).toBe(1)
  }],
]

describe('the document holds', () => {
  it.each(rows)('%s', async (_says, _better, holds) => {
    await expect(Promise.resolve(holds())).resolves.toBeUndefined()
  })
})
