import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as toolFanout from '../src/index.ts'
import { newFolder, startApp } from './support.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

it('the README says what the model pays, in bytes of the tools', async () => {
  for (const [trees, row] of [[undefined, '| Both tools |'], [newFolder(), '| Both tools, where the app makes worktrees |']] as const) {
    const { ctx } = await startApp(() => 'ok', {}, trees)
    const sizes = ['spawn_subagent', 'collect_subagent'].map(name => {
      const { name: tool, description, inputSchema: parameters } = ctx.tools.core.tools.get(name)!.spec
      return Buffer.byteLength(JSON.stringify({ type: 'function', function: { name: tool, description, parameters } }))
    })
    expect(readme).toContain(`${row} ${sizes[0]! + sizes[1]!} |`)
  }
})

it('the README has each key of the config, with its default', () => {
  const rows = readme.split('\n').filter(line => line.startsWith('| `'))
  for (const [key, value] of Object.entries(toolFanout.Config({ provider: 'spawn' }))) {
    expect(rows.find(row => row.split(' | ')[0]!.includes(`\`${key}\``))?.split(' | ')[1]).toContain(key === 'provider' ? 'required' : String(value))
  }
})
