import ApprovalService, { type Approval } from '@offshoot/approvals'
import { describe, expect, it } from 'vitest'
import { type AcpApp, startApp } from './support.ts'

/** What the agent was answered, as it says itself. */
async function answered({ start, files }: AcpApp): Promise<unknown[]> {
  await using run = await start()
  await run.result
  return files.log.lines('permission').map(({ more }) => more)
}

const selected = (optionId: string): object => ({ outcome: { outcome: 'selected', optionId } })
const cancelled = { outcome: { outcome: 'cancelled' } }

describe('an agent that asks', () => {
  it.each([
    ['deny', 'all', selected('reject-once')],
    ['deny', 'reject-always', selected('reject-always')],
    ['deny', 'allow-always', cancelled],
    ['deny', 'none', cancelled],
    ['allow-once', 'all', selected('allow-once')],
    ['allow-once', 'allow-always', cancelled],
  ] as const)('under "%s", offered %s, is answered %o', async (permission, options, outcome) => {
    const app = await startApp({ permission: options }, { permission })
    expect(await answered(app)).toEqual([outcome])
  })

  it('is answered by the kind of its tool, and no where there is no rule for it', async () => {
    const rules = { read: 'allow-once', execute: 'deny' } as const
    expect(await answered(await startApp({ permission: 'all', permissionKind: 'read' }, { permission: rules }))).toEqual([selected('allow-once')])
    expect(await answered(await startApp({ permission: 'all', permissionKind: 'execute' }, { permission: rules }))).toEqual([selected('reject-once')])
    expect(await answered(await startApp({ permission: 'all', permissionKind: 'edit' }, { permission: rules }))).toEqual([selected('reject-once')])
    expect(await answered(await startApp({ permission: 'all', permissionKind: 'a-kind-of-its-own' }, { permission: rules }))).toEqual([selected('reject-once')])
  })

  it('for a session that is not its own is refused, not left waiting', async () => {
    expect(await answered(await startApp({ permission: 'all', permissionSession: 'somebody-else' }, { permission: 'allow-once' }))).toEqual([selected('reject-once')])
  })

  it('and is refused is told of in the log, with what it wanted', async () => {
    const app = await startApp({ permission: 'all' })
    await answered(app)
    expect(app.logged.join('\n')).toMatch(/run-1 acp: execute ".*" refused: permission: deny/)
  })
})

describe('permission: ask', () => {
  async function attended(agent: Parameters<typeof startApp>[0] = { permission: 'all' }): Promise<AcpApp & { readonly asked: Approval[] }> {
    const app = await startApp(agent, { permission: 'ask' })
    await app.ctx.plugin(ApprovalService, {})
    const asked: Approval[] = []
    app.ctx.approvals.attend({ asked: approval => { asked.push(approval) } })
    return { ...app, asked }
  }

  it('asks people, who see the run, the agent and what it wants', async () => {
    const app = await attended()
    app.ctx.on('approval/asked', approval => { queueMicrotask(() => { approval.allow() }) })
    expect(await answered(app)).toEqual([selected('allow-once')])
    const [approval] = app.asked
    expect(approval?.request).toMatchObject({ agent: app.parent, asker: 'run-1 acp', tool: 'acp execute', effect: 'execute' })
    expect(approval?.path.at(-1)).toBe('run-1 acp')
  })

  it('takes their no', async () => {
    const app = await attended()
    app.ctx.on('approval/asked', approval => { queueMicrotask(() => { approval.deny('use git') }) })
    expect(await answered(app)).toEqual([selected('reject-once')])
  })

  it('shows in the tree as waiting for an approval, and is no silence', async () => {
    const app = await attended()
    await using run = await app.start()
    await app.files.log.waitFor('permission-asked')
    await expect.poll(() => app.asked.length).toBe(1)
    expect(app.ctx.subagents.tree()).toMatchObject([{ runId: run.id, waitsFor: 'approval' }])
    app.asked[0]!.deny()
    await run.result
  })

  it('without anybody to ask refuses, and says why', async () => {
    const app = await startApp({ permission: 'all' }, { permission: 'ask' })
    expect(await answered(app)).toEqual([selected('reject-once')])
    expect(app.logged.join('\n')).toMatch(/refused: permission: ask, and the app has no ctx.approvals/)
    await app.ctx.plugin(ApprovalService, {})
    expect((await answered(app)).at(-1)).toEqual(selected('reject-once'))
    expect(app.logged.join('\n')).toMatch(/nobody/)
  })

  it('a cancel while one is open settles it in the same tick, answers the agent, and ends the run', async () => {
    const app = await attended({ permission: 'all', cancelWaitsForPermission: true })
    const controller = new AbortController()
    await using run = await app.start({ signal: controller.signal })
    await expect.poll(() => app.asked.length).toBe(1)
    controller.abort(new Error('enough'))
    expect(app.asked[0]!.verdict).toMatchObject({ allowed: false, by: 'ended' })
    expect(app.ctx.approvals.list()).toEqual([])
    expect(await run.result).toMatchObject({ stopReason: 'aborted' })
    expect(app.files.log.lines('permission').map(({ more }) => more)).toEqual([cancelled])
  })

  it('several at once are queued, and each gets its own answer', async () => {
    const app = await attended({ permission: 'all', permissionCount: 4 })
    await using run = await app.start()
    await expect.poll(() => app.asked.length).toBe(4)
    expect(app.ctx.approvals.list()).toHaveLength(4)
    app.asked[2]!.allow()
    for (const approval of [...app.asked].reverse()) approval.deny()
    await run.result
    expect(app.files.log.lines('permission').map(({ more }) => JSON.stringify(more)).filter(text => text.includes('allow-once'))).toHaveLength(1)
    expect(app.ctx.approvals.list()).toEqual([])
  })
})
