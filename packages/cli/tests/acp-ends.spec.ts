import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { markedWith } from '../../../tests/survivors.ts'
import { config, type Served, serve } from './acp-served.ts'
import { gate } from './wire.ts'

const variable = 'OFFSHOOT_ENDS_TEST'
const allowing = config.replace('execute: ask', 'execute: allow')

const sleeping = async ({ cwd }: Served): Promise<void> => { await expect.poll(() => existsSync(join(cwd, 'sleeping')), { timeout: 8000 }).toBe(true) }

/** What is under way, and how it is seen to be. */
const situations: readonly (readonly [what: string, prompt: string | undefined, yaml: string, reached: (app: Served) => Promise<unknown>])[] = [
  ['nothing', undefined, config, () => Promise.resolve()],
  ['an answer', 'Wait.', config, ({ client }) => client.until(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')],
  ['a question', 'Touch.', config, ({ client }) => {
    const asked = gate()
    client.onAsk = () => { asked.open(); return undefined }
    return asked.opened
  }],
  ['a command that ignores every signal', 'Sleep.', allowing, sleeping],
  ['such a command of a child', 'Have somebody sleep.', allowing, sleeping],
  ['such a command of a child in the background', 'Have somebody sleep in the background.', allowing, sleeping],
]

const ends = situations.map(situation => ['the end of its input', ...situation] as const)

describe('offshoot acp is gone within two seconds, with all that it started', () => {
  it.each([...ends, ['SIGTERM', ...situations[1]!] as const, ['SIGTERM', ...situations[4]!] as const])('at %s during %s', async (how, _what, prompt, yaml, reached) => {
    const mark = randomUUID()
    await using app = await serve(yaml, {}, { [variable]: mark })
    const session = await app.client.open(app.cwd)
    const arrived = reached(app)
    if (prompt !== undefined) void app.client.prompt(session, prompt)
    await arrived
    const late = AbortSignal.timeout(2000)
    if (how === 'SIGTERM') app.client.process.kill('SIGTERM')
    else app.client.endInput()
    await app.client.exited
    expect({ late: late.aborted, survivors: markedWith(`${variable}=${mark}`) }).toEqual({ late: false, survivors: [] })
  })
})
