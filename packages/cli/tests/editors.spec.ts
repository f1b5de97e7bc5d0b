import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { codeBlocks } from '../../../tests/markdown.ts'
import { AcpClient } from './acp-client.ts'
import { folderWith } from './support.ts'

const clone = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')
const blocks = codeBlocks('docs/editors.md')
const [app, parent] = blocks.filter(({ language }) => language === 'yaml')

interface Start {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Record<string, string>
}

const words = (text: string): string[] => Array.from(text.matchAll(/'([^']*)'/g), ([, word]) => word!)

/** How a block has an agent started. */
function startOf({ language, code }: { readonly language: string, readonly code: string }): Start {
  if (language === 'json') return (JSON.parse(code) as { agent_servers: { Offshoot: Start } }).agent_servers.Offshoot
  if (language === 'lua') {
    const [, command = '', args = '', env = ''] = /command = '(.*?)',\s+args = \{(.*?)\},\s+env = \{(.*?)\}/s.exec(code) ?? []
    return { command, args: words(args), env: Object.fromEntries(Array.from(env.matchAll(/(\w+) = '(.*?)'/g), ([, name, value]) => [name!, value!])) }
  }
  const [command = '', ...args] = /--agent "(.*?)"/.exec(code)![1]!.split(' ')
  return { command, args }
}

const starts = blocks.filter(({ language }) => ['json', 'lua', 'sh'].includes(language))

it('names four ways to start the agent', () => {
  expect(starts.map(({ language }) => language)).toEqual(['json', 'json', 'lua', 'sh'])
})

it.each(starts)('the $language block starts the app above it, up to a session', async block => {
  const cwd = folderWith({ 'cordis.yml': app!.code })
  const { command, args, env = {} } = startOf(block)
  const placed = args.map(arg => arg.replace('/path/to/clone', clone).replace('/path/to/cordis.yml', join(cwd, 'cordis.yml')))
  await using client = new AcpClient({ cwd, command: [command, ...placed], env: { OPENAI_BASE_URL: 'http://127.0.0.1:1234/v1', OPENAI_MODEL: 'my-model', OPENAI_API_KEY: 'none', HOME: cwd, ...env } })
  expect(await client.open(cwd)).toMatch(/^ses_/)
})

it('the parent of another Offshoot starts, with its tool', async () => {
  const cwd = folderWith({ 'specialist.yml': app!.code })
  const config = join(folderWith({ 'cordis.yml': parent!.code.replaceAll('/path/to/clone', clone).replaceAll('/path/to/specialist.yml', join(cwd, 'specialist.yml')) }), 'cordis.yml')
  await using client = new AcpClient({ cwd, args: ['-c', config], env: { OPENAI_BASE_URL: 'http://127.0.0.1:1234/v1', OPENAI_MODEL: 'my-model' } })
  expect(await client.open(cwd)).toMatch(/^ses_/)
  expect(client.stderr).toBe('')
})
