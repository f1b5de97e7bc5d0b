// Makes a fresh clone ready: checks Node, installs the dependencies where they are missing or out of date.
// It runs before anything is installed, so it needs nothing but Node and npm.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { lock } from './lock.mjs'
import { members, root } from './workspace.mjs'

const { engines, packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const stampFile = join(root, 'node_modules', '.offshoot-setup')
const lockLimitMs = 5 * 60_000
/** @type {NodeJS.Signals[]} */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']

checkNode()
if (!isReady()) await install()

function checkNode() {
  const numbers = (/** @type {string} */ text) => (text.match(/\d+/g) ?? []).map(Number)
  const [major = 0, minor = 0] = numbers(engines.node)
  const [currentMajor = 0, currentMinor = 0] = numbers(process.versions.node)
  if (currentMajor > major || currentMajor === major && currentMinor >= minor) return
  console.error(`Offshoot needs Node ${engines.node}; this is Node ${process.versions.node}.`)
  process.exit(1)
}

/** What the installed dependencies depend on, as one hash. */
function fingerprint() {
  const hash = createHash('sha256')
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', ...members().map(dir => `${dir}/package.json`)]) {
    hash.update(`${file}\0`).update(readFileSync(join(root, file))).update('\0')
  }
  return hash.digest('hex')
}

function isReady() {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === fingerprint()
}

async function install() {
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  const unlock = await lock(join(root, 'node_modules', '.offshoot-setup.lock'), lockLimitMs)
  process.on('exit', unlock)
  // Another one may have installed while this one waited.
  if (!isReady()) await runPnpm()
  unlock()
}

async function runPnpm() {
  const stamp = fingerprint()
  const [command, ...args] = pnpm()
  console.error(`Installing dependencies with ${packageManager.replace('@', ' ')} …`)
  const { code, output } = await run(command, [...args, 'install', '--frozen-lockfile', '--config.confirm-modules-purge=false'])
  if (code === 0) {
    writeFileSync(stampFile, stamp)
    return
  }
  console.error(output.trimEnd().split('\n').slice(-40).join('\n'))
  console.error(`Installing the dependencies failed (${command} ended with ${code}).`)
  process.exit(1)
}

/** The command that is the pinned pnpm: the one on PATH if that is its version, else npm fetches it. @returns {[string, ...string[]]} */
function pnpm() {
  const version = packageManager.split('@')[1]
  const found = spawnSync('pnpm', ['--version'], { cwd: root, env: environment(), encoding: 'utf8', timeout: 20_000 })
  return found.stdout?.trim() === version ? ['pnpm'] : ['npx', '--yes', '--prefer-offline', packageManager]
}

/**
 * The environment without what a runner (`npm test`, `pnpm test`) put there for itself, of which the other one would warn,
 * and with how to reach the network.
 */
function environment() {
  const network = /^npm_config_((@.+:)?registry|\/\/.+|.*proxy|ca|cafile|cert|key|strict_ssl|userconfig|cache|store_dir|offline|fetch_.+)$/
  const entries = Object.entries(process.env).filter(([key]) => !key.startsWith('npm_') || network.test(key))
  return { ...Object.fromEntries(entries), COREPACK_ENABLE_DOWNLOAD_PROMPT: '0' }
}

/** Run a command to its end. What ends this process ends the command's whole group first. @param {string} command @param {string[]} args */
async function run(command, args) {
  const child = spawn(command, args, { cwd: root, env: environment(), stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', chunk => { output += chunk })
  const end = (/** @type {NodeJS.Signals} */ signal) => {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
    child.once('close', () => process.exit(128 + constants.signals[signal]))
  }
  for (const signal of signals) process.on(signal, end)
  /** @type {number | string} */
  const code = await new Promise(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('close', (status, signal) => resolve(status ?? signal ?? 'no status'))
  })
  for (const signal of signals) process.off(signal, end)
  return { code, output }
}
