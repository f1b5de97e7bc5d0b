import type { Agent } from '@offshoot/agent'
import type { Message } from '@offshoot/session'
import { Session } from '@offshoot/session'
import type { ProviderRun, ProviderStartRequest } from '@offshoot/subagent'
import { afterEach, expect, it, vi } from 'vitest'
import { App } from './support.ts'

afterEach(() => { vi.restoreAllMocks() })

const message: Message = Object.freeze({ role: 'user' as const, content: [{ type: 'text' as const, text: 'm' }] })

/** A parent whose log holds that many messages, two to a turn. */
function parentWith(app: App, messages: number, each: Message = message): Agent {
  const parent = app.agent()
  for (let n = 0; n < messages; n++) {
    if (n % 2 === 0) parent.session.beginTurn()
    parent.session.append(each)
  }
  return parent
}

function request(parent: Agent): ProviderStartRequest {
  const { signal } = new AbortController()
  return { prompt: 'Go.', parent, signal, callerSignal: signal, runId: 'run-x', depth: 1, maxDepth: 3, disposeGraceMs: 1000 }
}

it.each(['turns', 'steps'] as const)('is made without a look at the history, with seed "%s"', async seed => {
  await using app = await App.start({ seed })
  const methods = [vi.spyOn(Session.prototype, 'entries'), vi.spyOn(Session.prototype, 'messages')]
  let reads = 0
  const watched = { get role() { reads++; return message.role }, get content() { reads++; return message.content } }
  const readsAmong = async (messages: number): Promise<number> => {
    const parent = parentWith(app, messages, watched)
    reads = 0
    const run = await app.ctx.subagents.getProvider('fork')!.start(request(parent))
    expect(run.agent!.session.length).toBe(messages)
    await run.dispose()
    return reads
  }
  expect(await readsAmong(10_000)).toBe(await readsAmong(10))
  for (const method of methods) expect(method).not.toHaveBeenCalled()
})

it.each(['turns', 'steps'] as const)('takes the same memory from 10 and from 10,000 messages, with seed "%s"', async seed => {
  await using app = await App.start({ seed })
  const provider = app.ctx.subagents.getProvider('fork')!
  const measure = async (messages: number): Promise<number> => {
    const parent = parentWith(app, messages)
    const runs: ProviderRun[] = []
    const before = process.memoryUsage().heapUsed
    for (let n = 0; n < 300; n++) runs.push(await provider.start(request(parent)))
    const used = process.memoryUsage().heapUsed - before
    await Promise.all(runs.map(run => run.dispose()))
    return used
  }
  await measure(10)
  const short = await measure(10)
  const long = await measure(10_000)
  // A copied array of references would be 80 KB a child: 24 MB here, where all that children have takes about one.
  expect(long).toBeLessThan(Math.max(3 * short, 6e6))
})
