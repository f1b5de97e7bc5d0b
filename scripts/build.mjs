// Compiles every package to its `lib`, after making the checkout ready. What is up to date is left alone.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { lock } from './lock.mjs'
import './setup.mjs'
import { members, root } from './workspace.mjs'

// Some of the libraries `require` what Node brings.
const banner = 'import { createRequire as _createRequire } from "node:module"; const require = _createRequire(import.meta.url);'
const projects = members().filter(dir => existsSync(join(root, dir, 'tsconfig.json')))

// One at a time: a test run and `npm start` write the same files.
const unlock = await lock(join(root, 'node_modules', '.offshoot-build.lock'), 60_000)
// What the compiler says goes to stderr: `npm start` keeps stdout for the answer.
const { status, error } = spawnSync(join('node_modules', '.bin', 'tsc'), ['-b', ...projects], { cwd: root, stdio: ['ignore', 2, 2] })
if (status === 0) {
  await bundle(projects.flatMap(dir => bundledIn(join(root, dir, 'lib', 'bundled'))))
  await bundleAgent(join(root, 'packages', 'cli', 'lib'))
}
unlock()
if (error) console.error(`The compiler does not start: ${error.message}`)
if (status !== 0) process.exit(1)

/** What a package takes whole from a library, which may be hundreds of files: each of these becomes one, so that a program starts sooner. @param {string} folder */
function bundledIn(folder) {
  return existsSync(folder) ? readdirSync(folder).filter(name => name.endsWith('.js') && existsSync(join(folder, name.replace(/\.js$/, '.d.ts')))).map(name => join(folder, name)) : []
}

/** @param {string[]} files */
async function bundle(files) {
  const stale = files.filter(file => !readFileSync(file, 'utf8').startsWith(banner))
  if (stale.length === 0) return
  const { build } = await import('esbuild')
  await Promise.all(stale.map(file => build({
    entryPoints: [file], outfile: file, allowOverwrite: true, bundle: true, platform: 'node', format: 'esm', absWorkingDir: root, logLevel: 'warning', banner: { js: banner },
  })))
}

/** `offshoot acp` with all that ships with it: an editor starts it for each window. Made anew each time, as it holds every package. @param {string} lib */
async function bundleAgent(lib) {
  if (!existsSync(join(lib, 'acp-app.js'))) return
  const { build } = await import('esbuild')
  rmSync(join(lib, 'bundled'), { recursive: true, force: true })
  await build({
    entryPoints: [join(lib, 'acp-serve.js'), join(lib, 'acp-app.js')], outdir: join(lib, 'bundled'), bundle: true, splitting: true, minify: true, keepNames: true, platform: 'node', format: 'esm', absWorkingDir: root, logLevel: 'warning', banner: { js: banner },
  })
}
