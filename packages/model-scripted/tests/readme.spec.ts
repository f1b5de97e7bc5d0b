import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { callsOf, follow, results, say, textOf } from './support.ts'

it('the rules of the README play their scene', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const entries = parse(/```yaml\n(.*?)```/s.exec(readme)![1]!) as { name: string, config?: { rules: unknown[] } }[]
  const model = await follow(...entries.find(entry => entry.name === '@offshoot/model-scripted')!.config!.rules)
  const main = say('count the files in src please')
  expect(await callsOf(model, { prompt: main })).toMatchObject([{ tool: 'subagent', args: { description: 'count', prompt: 'List src and count.' } }])
  const child = say('List src and count.')
  expect(await callsOf(model, { label: 'count', prompt: child })).toMatchObject([{ tool: 'list_files', args: { path: '.' } }])
  expect(await textOf(model, { label: 'count', step: 2, prompt: [...child, ...results('a\nb')] })).toBe('I found:\na\nb')
  expect(await textOf(model, { step: 2, prompt: [...main, ...results('I found: two')] })).toBe('The child said: I found: two')
})
