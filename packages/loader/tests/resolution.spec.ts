import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ToolService } from '@offshoot/tools'
import { describe, expect, it, vi } from 'vitest'
import { AppError, loadApp } from '../src/index.ts'
import { installed, shared, writeApp } from './support.ts'

const silent = { log: () => {} }

/** A folder in which packages are installed, each a plugin that notes which it is. */
function install(log: string, packages: Record<string, { note: string, manifest?: object }>): string {
  const folder = writeApp({}, null)
  for (const [name, { note, manifest }] of Object.entries(packages)) addPackage(folder, log, name, note, manifest)
  return folder
}

function addPackage(folder: string, log: string, name: string, note: string, manifest: object = {}): void {
  const home = join(folder, 'node_modules', name)
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name, type: 'module', exports: './index.mjs', ...manifest }))
  for (const file of ['index', 'source']) {
    writeFileSync(join(home, `${file}.mjs`), `export function apply() { globalThis['${log}'].push('${note} ${file}') }`)
  }
}

it('looks for a package from the folder of the config file, then from each of `resolveFrom`', async () => {
  const { name, list } = shared()
  const first = install(name, { shared: { note: 'first' }, 'only-first': { note: 'first' } })
  const second = install(name, { shared: { note: 'second' }, '@scope/only-second': { note: 'second' } })
  const app = writeApp({ 'cordis.yml': '- name: own\n- name: shared\n- name: only-first\n- name: \'@scope/only-second\'\n' }, null)
  addPackage(app, name, 'own', 'own')
  const file = join(app, 'cordis.yml')

  await (await loadApp(file, { resolveFrom: [first, pathToFileURL(join(second, 'some-module.mjs')).href], ...silent })).dispose()
  expect(list).toEqual(['own index', 'first index', 'first index', 'second index'])

  addPackage(app, name, 'shared', 'own')
  list.length = 0
  await (await loadApp(file, { resolveFrom: [join(first, 'file.mjs'), second], ...silent })).dispose()
  expect(list).toEqual(['own index', 'own index', 'first index', 'second index'])
})

it('knows the packages of `resolveFrom` when it says what was probably meant', async () => {
  const { name } = shared()
  const elsewhere = install(name, { '@scope/engine': { note: '' } })
  const app = writeApp({ 'cordis.yml': '- name: \'@scope/engin\'\n' }, null)
  await expect(loadApp(join(app, 'cordis.yml'), { resolveFrom: [elsewhere], ...silent })).rejects.toThrow('did you mean "@scope/engine"?')
})

describe('an entry that waits for a service is not reported where the service is missing because of', () => {
  const packages = {
    engine: { note: '', manifest: { cordis: { service: { implements: ['engine'] } } } },
    bundle: { note: '', manifest: { dependencies: { engine: '1' } } },
  }

  it.each([
    ['a package whose name is misspelt', '- name: engin\n'],
    ['a package that cannot be imported', '- name: engine\n', 'engine'],
    ['a bundle whose name is misspelt', '- name: bundel\n'],
    ['a bundle that throws', '- name: bundle\n', 'bundle'],
  ])('%s', async (_, entry, broken?: string) => {
    const { name } = shared()
    const folder = install(name, packages)
    writeFileSync(join(folder, 'driver.mjs'), 'export const inject = ["engine"]\nexport function apply() {}')
    writeFileSync(join(folder, 'cordis.yml'), `${entry}- name: ./driver.mjs\n`)
    const source = broken === 'bundle' ? 'export function apply() { throw new Error("broke") }' : 'throw new Error("broke")'
    if (broken) writeFileSync(join(folder, 'node_modules', broken, 'index.mjs'), source)
    const error: unknown = await loadApp(join(folder, 'cordis.yml'), silent).catch((reason: unknown) => reason)
    expect((error as AppError).problems.map(({ where }) => where)).toEqual([`${folder}/cordis.yml:1:3`])
  })
})

it('reports what waits for a service that a failed package needs, and so would not have provided', async () => {
  const { name } = shared()
  const folder = install(name, { user: { note: '', manifest: { dependencies: { engine: '1' } } }, engine: { note: '', manifest: { cordis: { service: { implements: ['engine'] } } } } })
  writeFileSync(join(folder, 'node_modules/user/index.mjs'), 'export const inject = ["engine"]\nexport const Config = { "~standard": { validate: () => ({ issues: [{ message: "no config will do", path: ["a", { key: 1 }] }] }) } }\nexport function apply() {}')
  writeFileSync(join(folder, 'driver.mjs'), 'export const inject = ["engine"]\nexport function apply() {}')
  writeFileSync(join(folder, 'cordis.yml'), '- name: user\n- name: ./driver.mjs\n')
  await expect(loadApp(join(folder, 'cordis.yml'), silent)).rejects.toMatchObject({
    problems: [
      { message: 'entry "user" (user): config key "a[1]": no config will do' },
      { message: 'entry "./driver.mjs" (./driver.mjs): waits for service "engine": no loaded plugin provides it; package "engine" provides it' },
    ],
  })
})

it('takes export conditions beside the standard ones', async () => {
  const { name, list } = shared()
  const folder = install(name, { engine: { note: 'engine', manifest: { exports: { mine: './source.mjs', import: './index.mjs' } } } })
  writeFileSync(join(folder, 'cordis.yml'), '- name: engine\n')
  await (await loadApp(join(folder, 'cordis.yml'), { conditions: ['mine'], ...silent })).dispose()
  await (await loadApp(join(folder, 'cordis.yml'), silent)).dispose()
  expect(list).toEqual(['engine source', 'engine index'])
})

it('loads a package of the workspace as the module that a test imports', async () => {
  const folder = writeApp({ 'cordis.yml': '- name: \'@offshoot/tools\'\n' }, installed)
  const app = await loadApp(join(folder, 'cordis.yml'), { conditions: ['offshoot-source'], ...silent })
  expect(app.ctx.get('tools')).toBeInstanceOf(ToolService)
  await app.dispose()
})

it('says which file of a package is missing, and that the package may not be built', async () => {
  const { name } = shared()
  const folder = install(name, { engine: { note: '', manifest: { exports: './lib/index.js' } } })
  writeFileSync(join(folder, 'cordis.yml'), '- name: engine\n')
  await expect(loadApp(join(folder, 'cordis.yml'), silent)).rejects.toThrow(
    `package "engine" is installed, but its file ${join(folder, 'node_modules/engine/lib/index.js')} is missing; build the package`)
})

it('says that a package has nothing to import, instead of suggesting it again', async () => {
  const { name } = shared()
  const folder = install(name, { engine: { note: '' } })
  rmSync(join(folder, 'node_modules/engine/package.json'))
  rmSync(join(folder, 'node_modules/engine/index.mjs'))
  writeFileSync(join(folder, 'cordis.yml'), '- name: engin\n- name: engine\n')
  await expect(loadApp(join(folder, 'cordis.yml'), silent)).rejects.toMatchObject({
    problems: [
      { message: 'entry "engin" (engin): package "engin" is not installed; did you mean "engine"?' },
      { message: 'entry "engine" (engine): package "engine" is installed, but has nothing to import; build or reinstall it' },
    ],
  })
})

it('refuses a file that it cannot read', async () => {
  const folder = writeApp({ 'cordis.yml': '' })
  for (const [path, text] of [['missing.yml', 'there is no such file'], ['', 'is a folder; name the config file in it']] as const) {
    const file = join(folder, path).replace(/\/$/, '')
    const error: unknown = await loadApp(file).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'UNREADABLE', message: `${file}: ${text}`, problems: [{ where: file, message: text }] })
  }
})

it('shows the file relative to the working directory when it lies inside, and in full elsewhere', async () => {
  const folder = writeApp({ 'deep/cordis.yml': '- name: ./missing.mjs\n' })
  const refusedIn = async (cwd: string) => {
    const spy = vi.spyOn(process, 'cwd').mockReturnValue(cwd)
    try {
      return ((await loadApp(join(folder, 'deep/cordis.yml')).catch((reason: unknown) => reason)) as AppError).problems[0]?.where
    } finally {
      spy.mockRestore()
    }
  }
  expect(await refusedIn(folder)).toBe('deep/cordis.yml:1:3')
  expect(await refusedIn(join(folder, 'deep'))).toBe('cordis.yml:1:3')
  expect(await refusedIn(join(folder, 'dee'))).toBe(`${join(folder, 'deep/cordis.yml')}:1:3`)
})
