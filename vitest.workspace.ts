import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { members } from './scripts/workspace.mjs'

// Workspace packages are read from source: their `exports` name this condition first.
const conditions = ['offshoot-source', 'module', 'node', 'import', 'default']

const projects = ['.', ...members().filter(dir => existsSync(`${dir}/tests`))]

export default defineConfig({
  test: {
    // Both cores of a small machine: half of the time is spent waiting for processes.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: projects.map(dir => ({
      ssr: { resolve: { conditions } },
      test: {
        name: dir === '.' ? 'repository' : dir.replace(/^.*\//, ''),
        root: dir,
        include: [process.env['OFFSHOOT_TESTS'] === 'slow' ? 'tests/**/*.slow.ts' : 'tests/**/*.spec.ts'],
        environment: 'node' as const,
        // Files of a package share their modules: loading them anew for each file takes longer than the tests. Those that
        // start processes and make folders keep their own, and clean up file by file.
        isolate: runsTheCommand(dir),
        restoreMocks: true,
        unstubEnvs: true,
        unstubGlobals: true,
        testTimeout: 10_000,
        // A process takes a core while it starts: no more of them at once than a small machine has.
        ...(runsTheCommand(dir) ? { globalSetup: `${import.meta.dirname}/scripts/build-for-tests.mjs`, maxConcurrency: 2, testTimeout: 20_000 } : {}),
      },
    })),
  },
})

/** Whether the tests in `dir` start built programs: those of a package that has one, and of the examples. */
function runsTheCommand(dir: string): boolean {
  return dir.startsWith('examples/') || 'bin' in JSON.parse(readFileSync(`${dir}/package.json`, 'utf8'))
}
