import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { CodeBlock } from './markdown.ts'
import { examples, exists, packages, root } from './workspace.ts'

/**
 * Compile each block as a module of its own, in a project that has every package of the workspace installed.
 *
 * @returns what the compiler says, one error a string, as `README.md(12,3): error …` with the line in the Markdown file.
 */
export function compileBlocks(blocks: readonly CodeBlock[]): string[] {
  const cache = join(root, 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const project = mkdtempSync(join(cache, 'documents-'))
  try {
    linkPackages(join(project, 'node_modules'))
    const sources = new Map(blocks.map((block, index) => [`block-${index}.ts`, block]))
    for (const [name, { line, code }] of sources) writeFileSync(join(project, name), '\n'.repeat(line - 1) + code)
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: { composite: false, declaration: false, declarationMap: false, noEmit: true, moduleDetection: 'force' },
      files: [...sources.keys()],
    }))
    const { status, stdout, stderr } = spawnSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', project, '--pretty', 'false'], { cwd: project, encoding: 'utf8' })
    const errors = `${stdout}${stderr}`.split(/\n(?=\S)/).map(text => text.trimEnd()).filter(text => text !== '')
    if (status !== 0 && errors.length === 0) return [`tsc ended with ${status}`]
    return errors.map(text => text.replace(/^[^\s(]*?(block-\d+\.ts)/, (whole, name: string) => sources.get(name)?.file ?? whole))
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

/** What a person has who installed the packages: each of them, and what they depend on. */
function linkPackages(folder: string): void {
  const targets = new Map<string, string>(packages.map(({ dir, manifest }) => [manifest.name, dir]))
  for (const { dir, manifest } of [...packages, ...examples]) {
    for (const name of Object.keys({ ...manifest.peerDependencies, ...manifest.dependencies, ...manifest.devDependencies })) {
      const installed = `${dir}/node_modules/${name}`
      if (!targets.has(name) && exists(installed)) targets.set(name, installed)
    }
  }
  for (const [name, target] of targets) {
    const link = join(folder, name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(relative(dirname(link), realpathSync(join(root, target))), link)
  }
}
