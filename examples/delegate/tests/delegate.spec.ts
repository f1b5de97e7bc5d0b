import { startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const bin = createRequire(import.meta.url).resolve('@offshoot/cli/package.json').replace('package.json', 'lib/bin.cjs')

function runExample(env: Record<string, string> = {}): Promise<{ stdout: string, stderr: string }> {
  const { OPENAI_BASE_URL: _url, OPENAI_MODEL: _model, OPENAI_API_KEY: _key, ...rest } = process.env
  return promisify(execFile)(process.execPath, [bin, 'run', '-c', 'examples/delegate/cordis.yml', 'Tell me about this checkout.'], { cwd: root, env: { ...rest, ...env } })
}

it('offline: three tools delegate, children read files and run commands, and the answer holds what they found', async () => {
  const { stdout, stderr } = await runExample()
  const { name, description } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { name: string, description: string }
  const packages = readdirSync(`${root}/packages`, { withFileTypes: true }).filter(entry => entry.isDirectory()).length
  expect(stdout).toBe(`This is ${name}: ${description}. It has ${packages} packages. Its licence is the MIT License, which allows commercial use.\n`)
  const tree = stderr.slice(stderr.indexOf('main completed'), stderr.indexOf('usage: ')).replaceAll(/ \(.*\)$/gm, '')
  expect(tree).toBe(`main completed
├─ run-1 research "name and purpose" completed
├─ run-2 measure "number of packages" completed
└─ run-3 review "licence check" completed
   └─ run-4 research "licence text" completed
`)
})

it('with OPENAI_BASE_URL, OPENAI_MODEL and OPENAI_API_KEY the same app runs on that model', async () => {
  await using endpoint = await startEndpoint(() => ({ text: 'From the endpoint.' }))
  const { stdout } = await runExample({ OPENAI_BASE_URL: endpoint.baseURL, OPENAI_MODEL: 'some-model', OPENAI_API_KEY: 'test-key' })
  expect(stdout).toBe('From the endpoint.\n')
  expect(endpoint.requests[0]!.body.model).toBe('some-model')
  expect(endpoint.requests[0]!.headers.authorization).toBe('Bearer test-key')
  expect(endpoint.requests[0]!.body.tools!.map(tool => tool.function.name)).toEqual(['list_files', 'measure', 'read_file', 'research', 'review', 'search_files', 'shell', 'task_kill', 'task_list', 'task_output'])
})
