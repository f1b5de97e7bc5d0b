import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The checkout. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The folders of the workspace's members, relative to the checkout and sorted: `packages/agent`, … */
export function members(checkout = root) {
  const workspace = readFileSync(join(checkout, 'pnpm-workspace.yaml'), 'utf8')
  const groups = Array.from(workspace.matchAll(/^ {2}- (.+)\/\*$/gm), match => String(match[1]))
  return groups.filter(group => existsSync(join(checkout, group)))
    .flatMap(group => readdirSync(join(checkout, group)).map(name => `${group}/${name}`))
    .filter(dir => existsSync(join(checkout, dir, 'package.json')))
    .sort()
}
