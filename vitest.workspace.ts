import { existsSync, readdirSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

// Workspace packages are read from source: their `exports` name this condition first.
const conditions = ['offshoot-source', 'module', 'node', 'import', 'default']

const members = ['packages', 'examples'].flatMap(group =>
  readdirSync(group).map(name => `${group}/${name}`).filter(dir => existsSync(`${dir}/tests`)))

export default defineConfig({
  test: {
    projects: ['.', ...members].map(dir => ({
      ssr: { resolve: { conditions } },
      test: {
        name: dir === '.' ? 'repository' : dir.split('/')[1]!,
        root: dir,
        include: ['tests/**/*.spec.ts'],
        environment: 'node' as const,
      },
    })),
  },
})
