import { describe, expect, it } from 'vitest'
import { codeBlocks } from './markdown.ts'
import { examples, importsOf, isOffshoot, packages, read, readJson, referencesOf, repositoryFiles, rootManifest } from './workspace.ts'
import { pluginNames, yamlOf } from './yaml.ts'

const cordisPeer = '^4.0.0-rc.10'

describe.each(packages)('$dir', ({ id, dir, manifest }) => {
  it('is published under its folder\'s name, with the fields every package has', () => {
    expect(manifest).toMatchObject({
      name: `@offshoot/${id}`,
      version: rootManifest.version,
      description: expect.stringMatching(/\S/),
      type: 'module',
      license: 'MIT',
      main: 'lib/index.js',
      types: 'lib/index.d.ts',
      files: expect.arrayContaining(['lib', '!lib/.tsbuildinfo', 'src']),
      engines: rootManifest.engines,
    })
    expect(manifest.private).toBeUndefined()
  })

  it('serves its source to the workspace and its lib to everyone else', () => {
    const { './package.json': self, ...entries } = manifest.exports ?? {}
    expect(self).toBe('./package.json')
    expect(Object.keys(entries)).toContain('.')
    for (const [entry, conditions] of Object.entries(entries)) {
      const file = entry === '.' ? 'index' : entry.slice('./'.length)
      // In this order: the first condition that holds wins.
      expect(Object.entries(conditions)).toEqual([
        ['offshoot-source', `./src/${file}.ts`],
        ['types', `./lib/${file}.d.ts`],
        ['default', `./lib/${file}.js`],
      ])
      expect(repositoryFiles(`${dir}/src/${file}.ts`)).toHaveLength(1)
    }
    for (const program of Object.values(manifest.bin ?? {})) {
      expect(repositoryFiles(`${dir}/${program.replace(/^lib\/(.+)\.c?js$/, 'src/$1.ts')}`)).toHaveLength(1)
    }
  })

  it('takes cordis, where it needs it, from the app that loads it, except the command, which is the app', () => {
    const { dependencies, devDependencies, peerDependencies } = manifest
    const isPlain = !repositoryFiles(`${dir}/src/*.ts`, `${dir}/tests/*.ts`).some(path => importsOf(read(path)).includes('cordis'))
    const from = [dependencies?.['cordis'], peerDependencies?.['cordis'], devDependencies?.['cordis']]
    if (isPlain) expect(from).toEqual([undefined, undefined, undefined])
    else expect(from).toEqual(id === 'cli' ? ['catalog:', undefined, undefined] : [undefined, cordisPeer, 'catalog:'])
  })

  it('has versions from the catalog and the workspace only', () => {
    const { dependencies, devDependencies } = manifest
    const wrong = Object.entries({ ...dependencies, ...devDependencies })
      .filter(([name, version]) => version !== (isOffshoot(name) ? 'workspace:^' : 'catalog:'))
    expect(wrong).toEqual([])
  })

  it('has a README under its name, with a block that the tests check, sources and tests', () => {
    expect(read(`${dir}/README.md`).split('\n')[0]).toBe(`# ${manifest.name}`)
    expect(codeBlocks(`${dir}/README.md`).map(({ language }) => language)).toContainEqual(expect.stringMatching(/^(?:ts|yaml)$/))
    expect(repositoryFiles(`${dir}/src/index.ts`)).toHaveLength(1)
    expect(repositoryFiles(`${dir}/tests/*.spec.ts`)).not.toHaveLength(0)
  })

  it('is compiled with the workspace', () => {
    expect(referencesOf('tsconfig.json')).toContain(dir)
    expect(readJson(`${dir}/tsconfig.json`)).toMatchObject({
      extends: '../../tsconfig.base.json',
      compilerOptions: { rootDir: 'src', outDir: 'lib', tsBuildInfoFile: 'lib/.tsbuildinfo' },
      include: ['src'],
    })
  })
})

describe.each(examples)('$dir', ({ dir, manifest }) => {
  it('is private and has a README', () => {
    expect(manifest.private).toBe(true)
    expect(repositoryFiles(`${dir}/README.md`)).toHaveLength(1)
  })

  it('depends on exactly the workspace packages that it loads or imports', () => {
    const loaded = repositoryFiles(`${dir}/*.yml`).flatMap(file => pluginNames(yamlOf(read(file))))
    const imported = repositoryFiles(`${dir}/*.ts`, `${dir}/*.mjs`, `:!${dir}/tests`).flatMap(file => importsOf(read(file)))
    const used = new Set([...loaded, ...imported].filter(isOffshoot))
    expect(Object.keys(manifest.dependencies ?? {}).filter(isOffshoot).sort()).toEqual([...used].sort())
  })
})
