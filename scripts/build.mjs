// Compiles every package to its `lib`, after making the checkout ready. What is up to date is left alone.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lock } from './lock.mjs'
import { bundle, carry } from './bundling.mjs'
import './setup.mjs'
import { members, root } from './workspace.mjs'

const projects = members().filter(dir => existsSync(join(root, dir, 'tsconfig.json')))

// One at a time: a test run and `npm start` write the same files.
const unlock = await lock(join(root, 'node_modules', '.offshoot-build.lock'), 60_000)
// What the compiler says goes to stderr: `npm start` keeps stdout for the answer.
const { status, error } = spawnSync(join('node_modules', '.bin', 'tsc'), ['-b', ...projects], { cwd: root, stdio: ['ignore', 2, 2] })
if (status === 0) {
  await bundle(projects.flatMap(dir => bundledIn(join(root, dir, 'lib', 'bundled'))))
  const lib = join(root, 'packages', 'cli', 'lib')
  if (existsSync(join(lib, 'main.js')) && !isCarried(lib)) {
    await carry(lib)
    compileAgent()
    writeFileSync(join(lib, 'carried', 'by'), process.version)
  }
}
unlock()
if (error) console.error(`The compiler does not start: ${error.message}`)
if (status !== 0) process.exit(1)

/** What a package takes whole from a library, which may be hundreds of files: each of these becomes one, so that a program starts sooner. @param {string} folder */
function bundledIn(folder) {
  return existsSync(folder) ? readdirSync(folder).filter(name => name.endsWith('.js') && existsSync(join(folder, name.replace(/\.js$/, '.d.ts')))).map(name => join(folder, name)) : []
}

/** Whether the command has been put together from what is there, and for this Node. @param {string} lib */
function isCarried(lib) {
  const stamp = join(lib, 'carried', 'by')
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== process.version) return false
  const at = statSync(stamp).mtimeMs
  const sources = [import.meta.dirname, ...projects.map(dir => join(root, dir, 'lib'))].filter(dir => existsSync(dir))
  return sources.every(dir => readdirSync(dir, { recursive: true, encoding: 'utf8' }).every(name => !/\.m?js$/.test(name) || statSync(join(dir, name)).mtimeMs < at))
}

/** Has the agent answer once, so that what V8 compiles for that can be kept. */
function compileAgent() {
  const { status: ended, stderr } = spawnSync(process.execPath, [join(root, 'scripts', 'compile-agent.mjs')], { encoding: 'utf8' })
  if (ended !== 0) throw new Error(`offshoot acp does not serve:\n${stderr}`)
}
