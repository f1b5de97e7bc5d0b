// Two turns of a parent that spawns a child and collects it, then three reviewers in three worktrees of a small repository that is made on the spot.
import { loadApp } from '@offshoot/loader'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'offshoot-fan-out-')))
const app = await loadApp(fileURLToPath(new URL('cordis.yml', import.meta.url)))
try {
  await twoTurns(app.ctx)
  await threeReviewers(app.ctx, makeRepository(join(folder, 'repository')))
} finally {
  await app.dispose()
  rmSync(folder, { recursive: true, force: true })
}

/** @typedef {Awaited<ReturnType<typeof loadApp>>['ctx']} Context */

/** @param {Context} ctx */
async function twoTurns({ agents, fanout }) {
  const parent = agents.create()
  console.log(`Pending gauge: ${fanout.pendingCount} of ${fanout.maxPending} children awaiting collection`)

  console.log('\nTurn 1: the parent delegates, and spawning does not block')
  await ask(parent, 'Have a child find out which moon of Saturn is the largest. Start it with spawn_subagent, and do not collect it yet: end your turn.')
  const [spawned] = fanout.spawns()
  if (!spawned) throw new Error('the model spawned nobody')
  console.log(`  child id from the tool result: ${spawned.subagentId}`)
  console.log(`  pending ${fanout.pendingCount} of ${fanout.maxPending}, spawns so far ${fanout.spawnCount}`)

  console.log('\nTurn 2: the parent collects the summary')
  console.log(`  collected summary: ${JSON.stringify(await ask(parent, `Collect ${spawned.subagentId}, and say word for word what it answers.`))}`)
  console.log(`  pending ${fanout.pendingCount} of ${fanout.maxPending}, spawns so far ${fanout.spawnCount}`)

  console.log(`\nSpawn log, ${fanout.spawns().length} entr(ies)`)
  for (const { parentSession, worktreePath } of fanout.spawns()) console.log(`  parent session "${parentSession === parent.session.id ? 'its own' : parentSession}", worktree "${worktreePath ?? 'none'}"`)
}

/** @param {Context} ctx @param {string} cwd */
async function threeReviewers({ agents, fanout, worktrees }, cwd) {
  const parent = agents.create({ cwd })
  console.log('\nThree reviewers, each in a worktree of its own')
  const answer = await ask(parent, 'Have three children review this repository at once, each in a worktree of its own: correctness and naming write to REVIEW.md on a branch of their own, and one looks for a licence and changes nothing. Then collect all three, and repeat what they answer.')
  console.log(answer.replaceAll(folder, '…').replaceAll(/^/gm, '  '))
  console.log(`\nThe checkout itself: ${execFileSync('git', ['status', '--porcelain'], { cwd, encoding: 'utf8' }).trim() || 'clean'}`)
  console.log(`Worktrees that stay: ${(await worktrees.list(cwd)).map(({ branch, kept }) => `${branch ?? 'without a branch'} (${kept ?? 'not released'})`).join(', ') || 'none'}`)
  console.log(`pending ${fanout.pendingCount} of ${fanout.maxPending}, spawns so far ${fanout.spawnCount}`)
}

/** @param {ReturnType<Context['agents']['create']>} agent @param {string} prompt */
async function ask(agent, prompt) {
  const { stopReason, output, diagnostic } = await agent.run(prompt)
  if (stopReason !== 'completed') throw new Error(`the turn ended as ${stopReason}: ${diagnostic ?? 'no more is known'}`)
  return output.map(block => block.type === 'text' ? block.text : '').join('')
}

/** @param {string} dir */
function makeRepository(dir) {
  mkdirSync(dir)
  writeFileSync(join(dir, 'average.js'), 'export function average(numbers) {\n  let s = 0\n  for (let i = 0; i <= numbers.length; i++) s += numbers[i]\n  return s / numbers.length\n}\n')
  const git = (/** @type {string[]} */ ...args) => execFileSync('git', ['-c', 'user.name=example', '-c', 'user.email=example@example.org', ...args], { cwd: dir })
  git('init', '--quiet', '-b', 'main')
  git('add', '.')
  git('commit', '--quiet', '-m', 'first')
  return dir
}
