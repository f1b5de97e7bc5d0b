// A process that makes worktrees as it is told, a line of JSON each.
import { createInterface } from 'node:readline'
import { WorktreeCore } from '../lib/index.js'

const [, , repo, dir] = process.argv
const core = new WorktreeCore({ dir, timeoutMs: 20_000 })

let made = 0
process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin })) {
  const { count } = JSON.parse(line)
  const trees = await Promise.allSettled(Array.from({ length: count }, () => core.create({ repo, branch: `${process.pid}-${++made}` })))
  process.stdout.write(`${JSON.stringify(trees.map(({ value, reason }) => value?.path ?? String(reason)))}\n`)
}
