import { messagesOf, startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const main = fileURLToPath(new URL('../main.mjs', import.meta.url))

async function runExample(env: Record<string, string> = {}): Promise<string> {
  const { OPENAI_BASE_URL: _url, OPENAI_MODEL: _model, OPENAI_API_KEY: _key, ...rest } = process.env
  return (await promisify(execFile)(process.execPath, [main], { env: { ...rest, ...env } })).stdout
}

const leftovers = (): string[] => readdirSync(tmpdir()).filter(name => name.startsWith('offshoot-fan-out-'))

it('offline: a child is spawned and collected over two turns; three reviewers work in worktrees of their own, and nothing of it stays', async () => {
  const before = leftovers()
  expect(await runExample()).toBe(`Pending gauge: 0 of 1024 children awaiting collection

Turn 1: the parent delegates, and spawning does not block
  child id from the tool result: sub-0
  pending 1 of 1024, spawns so far 1

Turn 2: the parent collects the summary
  collected summary: "The largest moon of Saturn is Titan."
  pending 0 of 1024, spawns so far 1

Spawn log, 1 entr(ies)
  parent session "its own", worktree "none"

Three reviewers, each in a worktree of its own
  There is no licence.
  
  <worktree path="…/worktrees/licence" commits="0">
  Nothing was changed; it was removed.
  </worktree>
  The loop goes one too far; the average is NaN.
  
  <worktree path="…/worktrees/correctness" branch="review/correctness" commits="0">
  REVIEW.md
  </worktree>
  One name says too little.
  
  <worktree path="…/worktrees/naming" branch="review/naming" commits="0">
  REVIEW.md
  </worktree>

The checkout itself: clean
Worktrees that stay: review/correctness (a file is not committed: REVIEW.md), review/naming (a file is not committed: REVIEW.md)
pending 0 of 1024, spawns so far 4
`)
  expect(leftovers()).toEqual(before)
})

it('on a model behind an endpoint: what it says is what is done', async () => {
  await using endpoint = await startEndpoint(request => {
    const messages = messagesOf(request)
    const { role, content } = messages.at(-1)!
    const asked = messages.findLast(message => message.role === 'user')!.content as string
    if (asked.startsWith('Have a child')) return role === 'tool' ? { text: 'Started.' } : { calls: [{ name: 'spawn_subagent', arguments: { task: 'Which moon?' } }] }
    if (asked.startsWith('Collect')) return role === 'tool' ? { text: content as string } : { calls: [{ name: 'collect_subagent', arguments: { subagent_id: /sub-\d+/.exec(asked)![0] } }] }
    return { text: asked === 'Which moon?' ? 'Titan.' : 'Nothing to review.' }
  })
  const stdout = await runExample({ OPENAI_BASE_URL: endpoint.baseURL, OPENAI_MODEL: 'any' })
  expect(stdout).toContain('collected summary: "Titan."')
  expect(stdout).toContain('Nothing to review.')
})
