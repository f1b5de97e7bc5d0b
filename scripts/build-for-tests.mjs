import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './workspace.mjs'

/** Vitest's global setup of the projects that start built programs. */
export default function setup() {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The packages do not build:\n${stderr}`)
}
