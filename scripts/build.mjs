// Compiles every package to its `lib`, after making the checkout ready. What is up to date is left alone.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { lock } from './lock.mjs'
import './setup.mjs'
import { members, root } from './workspace.mjs'

const projects = members().filter(dir => existsSync(join(root, dir, 'tsconfig.json')))

// One at a time: a test run and `npm start` write the same files.
const unlock = await lock(join(root, 'node_modules', '.offshoot-build.lock'), 60_000)
// What the compiler says goes to stderr: `npm start` keeps stdout for the answer.
const { status, error } = spawnSync(join('node_modules', '.bin', 'tsc'), ['-b', ...projects], { cwd: root, stdio: ['ignore', 2, 2] })
unlock()
if (error) console.error(`The compiler does not start: ${error.message}`)
if (status !== 0) process.exit(1)
