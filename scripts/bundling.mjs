import { readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, relative } from 'node:path'
import { lazySchemas } from './lazy-schemas.mjs'
import { root } from './workspace.mjs'

const require = createRequire(import.meta.url)

/** @type {import('esbuild').BuildOptions} */
const common = { bundle: true, platform: 'node', absWorkingDir: root, logLevel: 'warning' }

/** What a package takes whole from a library, which may be hundreds of files: each of these becomes one, so that a program starts sooner. @param {string[]} files */
export async function bundle(files) {
  // Some of the libraries `require` what Node brings.
  const banner = 'import { createRequire as _createRequire } from "node:module"; const require = _createRequire(import.meta.url);'
  const stale = files.filter(file => !readFileSync(file, 'utf8').startsWith(banner))
  if (stale.length === 0) return
  const { build } = await import('esbuild')
  await Promise.all(stale.map(file => build({ ...common, entryPoints: [file], outfile: file, allowOverwrite: true, format: 'esm', banner: { js: banner } })))
}

/**
 * `offshoot acp` with all that ships with it, and apart from it the libraries that its first answer may do without; and the file that starts the
 * command.
 *
 * @param {string} lib of the command
 */
export async function carry(lib) {
  const { build } = await import('esbuild')
  const [folder, done] = [join(lib, 'carried.new'), join(lib, 'carried')]
  rmSync(folder, { recursive: true, force: true })
  /** @type {Map<string, string>} */
  const apart = new Map()
  /** @type {import('esbuild').BuildOptions} */
  const options = {
    ...common, outdir: folder, outExtension: { '.js': '.cjs' }, format: 'cjs', target: 'node20', legalComments: 'none',
    // Names stay: plugins and errors are told by them.
    minifySyntax: true, minifyWhitespace: true,
    banner: { js: 'const _require = require, _folder = require("node:url").pathToFileURL(__filename).href;' },
  }
  await build({ ...options, entryPoints: { offshoot: join(lib, 'main.js') }, plugins: [lazySchemas, lazily(apart), inPlace(folder)] })
  await build({ ...options, entryPoints: Object.fromEntries(apart), plugins: [inPlace(folder)] })
  await build({ ...options, outdir: lib, entryPoints: { bin: join(lib, 'bin.js') }, external: ['./main.js'], banner: { js: `${options.banner?.js} const _import = url => import(url);` }, plugins: [inPlace(lib)] })
  // Whoever starts meanwhile has all of it, or none.
  rmSync(done, { recursive: true, force: true })
  renameSync(folder, done)
}

/**
 * What takes long to load and is not needed by everyone is loaded when something of it is first used: some of Node's own modules (1 to
 * 15 ms each), and libraries that packages take whole.
 *
 * @param {Map<string, string>} apart receives the files of those libraries, by name
 * @returns {import('esbuild').Plugin}
 */
function lazily(apart) {
  return {
    name: 'lazily',
    setup(build) {
      build.onResolve({ filter: /^node:(?:assert|child_process|crypto|fs\/promises|os|tty|v8)$/ }, ({ path }) => ({ path, namespace: 'lazily' }))
      build.onResolve({ filter: /\/bundled\/(?:execa|openai-compatible)\.js$/ }, async ({ path, pluginData, ...at }) => {
        if (pluginData === 'resolved') return undefined
        const { path: file } = await build.resolve(path, { ...at, pluginData: 'resolved' })
        return { path: file, namespace: 'lazily' }
      })
      build.onLoad({ filter: /^node:/, namespace: 'lazily' }, ({ path }) => ({ contents: proxy(`_require('${path}')`, Object.keys(require(path)), path === 'node:assert') }))
      build.onLoad({ filter: /^\//, namespace: 'lazily' }, ({ path }) => {
        const name = basename(path, '.js')
        // Several packages may take the same one.
        if (!apart.has(name)) apart.set(name, path)
        const [, names = ''] = /export \{\s*([^}]*)\}/.exec(readFileSync(path, 'utf8').slice(-2000)) ?? []
        return { contents: proxy(`_carried('${name}')`, names.split(',').map(each => each.replace(/.* as /, '').trim()).filter(Boolean), false) }
      })
    },
  }
}

/** A module that loads another one when something of it is used. @param {string} load @param {string[]} keys @param {boolean} asserts */
function proxy(load, keys, asserts) {
  // What holds is not worth loading what would say that it does not.
  return `module.exports = ${asserts ? `(value, ...rest) => value || ${load}(value, ...rest)` : '{}'}
${asserts ? 'module.exports.ok = module.exports' : ''}
for (const key of ${JSON.stringify(keys.filter(key => !asserts || key !== 'ok'))}) Object.defineProperty(module.exports, key, { enumerable: true, configurable: true, get: () => ${load}[key] })`
}

/**
 * A module that asks where it is hears where it was: what it finds from there, files and packages of its own, is still there. What it imports by a name that is not known before is imported
 * for it: what V8 has compiled beforehand cannot.
 *
 * @param {string} folder where the bundle will be
 * @returns {import('esbuild').Plugin}
 */
function inPlace(folder) {
  return {
    name: 'in-place',
    setup(build) {
      build.onLoad({ filter: /\/packages\/[^/]+\/lib\/.*\.js$/, namespace: 'file' }, ({ path }) => ({
        contents: readFileSync(path, 'utf8')
          .replaceAll('import.meta.url', `new URL(${JSON.stringify(relative(folder, path))}, _folder).href`)
          .replaceAll(/(?<![\w.])import\((?=\/\* @vite-ignore|__rewriteRelativeImportExtension\()/g, '_import('),
      }))
    },
  }
}
