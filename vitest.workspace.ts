import { existsSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { members } from './scripts/workspace.mjs'

// Workspace packages are read from source: their `exports` name this condition first.
const conditions = ['offshoot-source', 'module', 'node', 'import', 'default']

const projects = ['.', ...members().filter(dir => existsSync(`${dir}/tests`))]

export default defineConfig({
  test: {
    projects: projects.map(dir => ({
      ssr: { resolve: { conditions } },
      test: {
        name: dir === '.' ? 'repository' : dir.replace(/^.*\//, ''),
        root: dir,
        include: ['tests/**/*.spec.ts'],
        environment: 'node' as const,
        testTimeout: 10_000,
        ...(runsTheCommand(dir) ? { globalSetup: `${import.meta.dirname}/scripts/build-for-tests.mjs` } : {}),
      },
    })),
  },
})

/** Whether the tests in `dir` start built programs: those of a package that has one, and of the examples. */
function runsTheCommand(dir: string): boolean {
  return dir.startsWith('examples/') || 'bin' in JSON.parse(readFileSync(`${dir}/package.json`, 'utf8'))
}
