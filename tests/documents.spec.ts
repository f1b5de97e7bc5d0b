import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compileBlocks } from './compile.ts'
import { codeBlocks, localLinks } from './markdown.ts'
import { exists, packages, read, repositoryFiles, rootManifest } from './workspace.ts'
import { pluginNames, yamlOf } from './yaml.ts'

const all = repositoryFiles('*.md')
// An RFC shows what was decided then, which later code may have moved on from.
const current = all.filter(file => !file.startsWith('rfcs/'))
const blocks = current.flatMap(codeBlocks)

describe('the documents', () => {
  it('have ts blocks that compile, each alone', { timeout: 60_000 }, () => {
    expect(compileBlocks(blocks.filter(({ language }) => language === 'ts'))).toEqual([])
  })

  it('have yaml blocks that parse, and load only packages of this workspace and files of the app', () => {
    const names = new Set(packages.map(({ manifest }) => manifest.name))
    const wrong = blocks.filter(({ language }) => language === 'yaml').flatMap(({ file, line, code }) => {
      try {
        return pluginNames(yamlOf(code)).filter(name => !names.has(name) && !name.startsWith('./')).map(name => `${file}:${line}: ${name}`)
      } catch (error) {
        return [`${file}:${line}: ${String(error)}`]
      }
    })
    expect(wrong).toEqual([])
  })

  it('link to files that exist', () => {
    const broken = all.flatMap(file => localLinks(file).filter(target => !exists(join(dirname(file), target))).map(target => `${file}: ${target}`))
    expect(broken).toEqual([])
  })

  it('name scripts that exist', () => {
    const unknown = current.flatMap(file => scriptsNamedIn(read(file)).filter(name => !rootManifest.scripts?.[name]).map(name => `${file}: ${name}`))
    expect(unknown).toEqual([])
  })

  it('name the pnpm that is pinned', () => {
    const named = current.flatMap(file => Array.from(read(file).matchAll(/\bpnpm@[\d.]+\d/g), match => `${file}: ${match[0]}`))
    expect(named.filter(name => !name.endsWith(` ${rootManifest.packageManager}`))).toEqual([])
  })

  it('give every dependency of the catalog its line, with its version', () => {
    const { catalog } = yamlOf(read('pnpm-workspace.yaml')) as { catalog: Record<string, string> }
    const described = Array.from(read('docs/dependencies.md').matchAll(/^\| `([^`]+)` \| `([^`]+)` \| \S/gm), ([, ...line]) => line)
    expect(described).toEqual(Object.entries(catalog))
  })
})

describe('the check of ts blocks', () => {
  it('sees the workspace\'s packages and says where in the Markdown file an error is', { timeout: 60_000 }, () => {
    const block = { file: 'README.md', language: 'ts', line: 7 }
    const errors = compileBlocks([
      { ...block, code: 'import { nearest } from \'@offshoot/problems\'\nexport const near: string | undefined = nearest(\'a\', [])' },
      { ...block, code: 'import { nearest } from \'@offshoot/problems\'\nexport const near: number = nearest(\'a\', [])' },
    ])
    expect(errors).toEqual([expect.stringMatching(/^README\.md\(8,14\): error TS2322: /)])
  })
})

/** Scripts as they are called: `npm test`, `npm run lint`, `pnpm test:slow`. */
function scriptsNamedIn(text: string): string[] {
  return Array.from(text.matchAll(/\bp?npm (?:run (?:-\S+ )*([\w:-]+)|(test|start)\b(?!:)|(\w+:[\w:-]+))/g), ([, ...names]) => names.find(name => name !== undefined)!)
}
