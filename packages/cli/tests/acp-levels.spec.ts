import { startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { randomUUID } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { markedWith } from '../../../tests/survivors.ts'
import { AcpClient } from './acp-client.ts'
import { folderWith } from './support.ts'
import { gate, lastMessageText } from './wire.ts'

const bin = fileURLToPath(new URL('../lib/bin.cjs', import.meta.url))
const variable = 'OFFSHOOT_LEVELS_TEST'

/** An app whose only tool hands its task to the next level, over ACP. */
function level(below: string | undefined, maxDepth: number): string {
  return `
- name: '@offshoot/runtime'
  config: { subagents: { maxDepth: ${maxDepth} } }
- name: '@offshoot/model-ai-sdk'
  config: { baseURL: !!js process.env.OPENAI_BASE_URL, model: test-model }
- name: '@offshoot/tool-shell'
${below === undefined ? '' : `- name: '@offshoot/subagent-acp'
  config: { name: below, command: ${process.execPath}, args: [${bin}, acp, -c, ${below}], inheritEnv: [OPENAI_BASE_URL, ${variable}], depthLimit: true, permission: allow-once }
`}- name: '@offshoot/tool-subagent'
  config: { provider: ${below === undefined ? 'spawn' : 'below'}, toolName: hand_down }
`
}

interface Levels extends AsyncDisposable {
  readonly top: AcpClient
  readonly cwd: string
  readonly session: string
  /** The deepest level has begun to work. */
  readonly deepest: Promise<void>
  readonly survivors: () => string[]
}

/** Three processes, each the next one's host. The deepest says what it is asked, or waits where it is told to. */
async function threeLevels(maxDepth = 3): Promise<Levels> {
  const mark = randomUUID()
  const arrived = gate()
  const held = gate()
  const endpoint = await startEndpoint(request => {
    const last = lastMessageText(request)
    const hop = /^(\d):(.*)$/.exec(last)
    if (hop && Number(hop[1]) > 0) return { calls: [{ name: 'hand_down', arguments: { description: 'go down', prompt: `${Number(hop[1]) - 1}:${hop[2]}` } }] }
    // Whatever signal tells it to end, it does not.
    if (hop?.[2] === 'run') return { calls: [{ name: 'shell', arguments: { command: 'trap "" TERM HUP INT; touch running; while :; do sleep 1; done' } }] }
    if (hop?.[2] === 'sleep') {
      arrived.open()
      return { text: ['I ', 'sleep'], holdAfter: held.opened }
    }
    return { text: hop ? `bottom says ${hop[2]}` : `relayed: ${last}` }
  })
  const cwd = folderWith({ 'bottom.yml': level(undefined, maxDepth), 'middle.yml': '', 'top.yml': '' })
  writeFileSync(`${cwd}/middle.yml`, level(`${cwd}/bottom.yml`, maxDepth))
  writeFileSync(`${cwd}/top.yml`, level(`${cwd}/middle.yml`, maxDepth))
  const top = new AcpClient({ cwd, env: { OPENAI_BASE_URL: endpoint.baseURL, [variable]: mark }, args: ['-c', 'top.yml'] })
  return {
    top, cwd, session: await top.open(cwd), deepest: arrived.opened,
    survivors: () => markedWith(`${variable}=${mark}`),
    async [Symbol.asyncDispose]() {
      held.open()
      await top[Symbol.asyncDispose]()
      await endpoint.close()
    },
  }
}

describe('Offshoot over ACP over Offshoot', () => {
  it('an answer comes up through three processes', async () => {
    await using levels = await threeLevels()
    const { result } = await levels.top.prompt(levels.session, '2:hello')
    expect(result).toMatchObject({ stopReason: 'end_turn' })
    expect(levels.top.text).toBe('relayed: relayed: bottom says hello')
  })

  it('a depth limit of the top holds at the bottom', async () => {
    await using levels = await threeLevels(2)
    await levels.top.prompt(levels.session, '3:hello')
    expect(levels.top.text).toContain('a child would be at delegation depth 3, and the limit is 2')
  })

  it('a cancel reaches the bottom, and leaves only who serves', async () => {
    await using levels = await threeLevels()
    const answer = levels.top.prompt(levels.session, '2:sleep')
    await levels.deepest
    expect(levels.survivors()).toHaveLength(3)
    levels.top.notify('session/cancel', { sessionId: levels.session })
    expect((await answer).result).toEqual({ stopReason: 'cancelled' })
    await expect.poll(levels.survivors, { timeout: 8000 }).toHaveLength(1)
  })

  it('the end of the top without a word leaves nothing alive', async () => {
    await using levels = await threeLevels()
    void levels.top.prompt(levels.session, '2:sleep')
    await levels.deepest
    expect(levels.survivors()).toHaveLength(3)
    levels.top.process.kill('SIGKILL')
    await expect.poll(levels.survivors, { timeout: 8000 }).toEqual([])
  })

  it.each(['the end of the top without a word', 'a cancel'])('%s ends a command at the bottom that ignores every signal', async how => {
    await using levels = await threeLevels()
    const answer = levels.top.prompt(levels.session, '2:run')
    await expect.poll(() => existsSync(`${levels.cwd}/running`), { timeout: 8000 }).toBe(true)
    expect(levels.survivors().length).toBeGreaterThan(3)
    if (how === 'a cancel') {
      levels.top.notify('session/cancel', { sessionId: levels.session })
      expect((await answer).result).toEqual({ stopReason: 'cancelled' })
    } else levels.top.process.kill('SIGKILL')
    await expect.poll(levels.survivors, { timeout: 8000 }).toHaveLength(how === 'a cancel' ? 1 : 0)
  })
})
