import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { lock } from '../lock.mjs'

const limitMs = 10 * 60_000

/**
 * Install a package of somebody else, unless this version is there. Install scripts run only for those that cannot do without.
 *
 * @param {{ name: string, package: string, version: string, beside?: string[], bin?: string, needsInstallScript?: boolean }} peer `bin`: its program, which has to start
 * @returns the folder in which it is
 * @throws with the end of what was said
 */
export async function install({ name, package: id, version, beside = [], bin, needsInstallScript = false }) {
  const dir = join(peersDir(), name)
  const stamp = join(dir, 'installed')
  const wanted = [`${id}@${version}`, ...beside]
  const isReady = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted.join(' ')
  if (isReady()) return dir
  mkdirSync(dir, { recursive: true })
  const unlock = await lock(join(dir, 'lock'), limitMs)
  try {
    // Another one may have installed while this one waited.
    if (isReady()) return dir
    console.error(`Installing ${wanted.join(' and ')} …`)
    writeFileSync(join(dir, 'package.json'), JSON.stringify({ private: true }))
    await run('npm', ['install', `--ignore-scripts=${!needsInstallScript}`, '--no-audit', '--no-fund', '--save-exact', ...wanted], dir)
    if (bin !== undefined) await run(programIn(dir, bin), ['--version'], dir)
    writeFileSync(stamp, wanted.join(' '))
    return dir
  } finally {
    unlock()
  }
}

/** @param {string} dir @param {string} bin */
export function programIn(dir, bin) {
  return join(dir, 'node_modules', '.bin', bin)
}

/** Where they are kept: OFFSHOOT_PEERS_DIR, else a folder in the user's cache. */
function peersDir() {
  const { OFFSHOOT_PEERS_DIR: own, XDG_CACHE_HOME: cache } = process.env
  return own || join(cache || join(homedir(), ...process.platform === 'darwin' ? ['Library', 'Caches'] : ['.cache']), 'offshoot-peers')
}

/** @param {string} command @param {string[]} args @param {string} cwd */
async function run(command, args, cwd) {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'], timeout: limitMs })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', chunk => { said += chunk })
  /** @type {number | string} */
  const code = await new Promise(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('close', (status, signal) => resolve(status ?? signal ?? 'no status'))
  })
  if (code !== 0) throw new Error(`${[basename(command), ...args].join(' ')} ended with ${code}: ${said.trim().split('\n').slice(-5).join(' ')}`)
}
