import { existsSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeAgentFiles, type FakeAgentOptions } from '../src/testing.ts'
import { RawClient } from './raw-client.ts'

let files: FakeAgentFiles

beforeEach(() => {
  files = new FakeAgentFiles()
})

afterEach(() => {
  for (const { more } of files.log.lines('companion')) end((more as { pid: number }).pid)
  files.dispose()
})

function started(options?: FakeAgentOptions): Promise<RawClient> {
  return RawClient.withSession({ logFile: files.log.path, ...options })
}

describe('permissions', () => {
  const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } })

  /** The requests that wait for an answer, once there are so many. */
  async function asked(agent: RawClient, count = 1) {
    await files.log.waitFor('permission-asked', { count })
    await agent.message(({ params }) => (params?.['toolCall'] as { toolCallId: string } | undefined)?.toolCallId === `call-${count}`)
    return agent.messages.filter(({ method }) => method === 'session/request_permission')
  }

  it('are asked with the options and the kind of tool that it was told, and their outcomes are its answer', async () => {
    await using agent = await started({ permission: 'all', permissionKind: 'edit', permissionCount: 2, behaviour: { kind: 'answer', text: 'done' } })
    const answer = agent.prompt()
    const [first, second] = await asked(agent, 2)
    expect(first!.params).toMatchObject({ toolCall: { kind: 'edit' }, options: [{ kind: 'allow_once' }, { kind: 'allow_always' }, { kind: 'reject_once' }, { kind: 'reject_always' }] })
    agent.write({ id: second!.id, result: { outcome: { outcome: 'cancelled' } } })
    agent.write({ id: first!.id, result: selected('reject-once') })
    await answer
    expect(agent.text).toBe('permission: selected reject-once\npermission: cancelled\ndone')
    expect(files.log.lines('permission').map(({ more }) => more)).toEqual([{ outcome: { outcome: 'cancelled' } }, selected('reject-once')])
  })

  it('can keep it from ending a cancelled turn until they are answered', async () => {
    await using agent = await started({ permission: 'reject-always', cancelWaitsForPermission: true })
    const answer = agent.prompt()
    const [request] = await asked(agent)
    agent.cancel()
    await files.log.waitFor('cancel')
    expect(files.log.lines('prompt-answered')).toEqual([])
    agent.write({ id: request!.id, result: { outcome: { outcome: 'cancelled' } } })
    expect((await answer).result).toEqual({ stopReason: 'cancelled' })
  })
})

describe('its end', () => {
  it.each<[NonNullable<FakeAgentOptions['onCancel']>, object]>([
    ['end_turn', { result: { stopReason: 'end_turn' } }],
    ['error', { error: { code: -32603 } }],
  ])('a cancelled turn ends with %s where it was told so', async (onCancel, ending) => {
    await using agent = await started({ onCancel, behaviour: { kind: 'hang', tool: 'Wait' } })
    const answer = agent.prompt()
    await files.log.waitFor('under-way')
    agent.cancel()
    expect(await answer).toMatchObject(ending)
  })

  it('can be deaf to a cancel, to the end of its stdin and to SIGTERM', async () => {
    await using agent = await started({ onCancel: 'ignore', behaviour: { kind: 'hang' }, noExitOnEof: true, ignoreTerm: true })
    agent.prompt().catch(() => {})
    await files.log.waitFor('under-way')
    agent.cancel()
    await files.log.waitFor('cancel')
    agent.process.kill('SIGTERM')
    await files.log.waitFor('sigterm')
    agent.process.stdin.end()
    await files.log.waitFor('eof')
    expect(files.log.lines('prompt-answered')).toEqual([])
    agent.process.kill('SIGKILL')
    expect(await agent.exit).toBe('SIGKILL')
  })

  it('can leave processes behind, in its group and outside of it', async () => {
    await using agent = await started({ companions: ['group', 'stubborn', 'detached'] })
    const pids = files.log.lines('companion').map(({ more }) => (more as { pid: number }).pid)
    expect(pids.map(groupOf).map(group => group === agent.process.pid)).toEqual([true, true, false])
    agent.process.stdin.end()
    await agent.exit
    expect(pids.filter(pid => groupOf(pid) === undefined)).toEqual([])
    process.kill(-agent.process.pid!, 'SIGKILL')
    await gone(pids[0]!)
    await gone(pids[1]!)
    expect(groupOf(pids[2]!)).toBe(pids[2])
  })
})

/** The process group of a process that lives. */
function groupOf(pid: number): number | undefined {
  if (!existsSync(`/proc/${pid}/stat`)) return undefined
  const [state, , group] = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ')
  return state === 'Z' ? undefined : Number(group)
}

async function gone(pid: number): Promise<void> {
  await vi.waitFor(() => { expect(groupOf(pid)).toBeUndefined() })
}

/** End what an agent left behind. */
function end(pid: number): void {
  if (groupOf(pid) !== undefined) process.kill(pid, 'SIGKILL')
}
