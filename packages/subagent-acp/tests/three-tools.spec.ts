import type { ModelRequest } from '@offshoot/model'
import { fakeModel, type FakeModel } from '@offshoot/model/testing'
import { type App, loadApp } from '@offshoot/loader'
import type {} from '@offshoot/runtime'
import type {} from '@offshoot/tool-subagent'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { fakeAgent } from '../src/testing.ts'
import { newTestMark } from './support.ts'

const tools = { fresh: 'spawn', knowing: 'fork', elsewhere: 'helper' }

/** An app from a real file with one delegation tool for each entry of `providers`, by name. */
async function load(providers: Readonly<Record<string, string>>, env: Record<string, string> = {}): Promise<{ readonly app: App, readonly model: FakeModel }> {
  const dir = mkdtempSync(join(tmpdir(), 'offshoot-three-'))
  const path = join(dir, 'cordis.yml')
  writeFileSync(path, [
    '- name: \'@offshoot/runtime\'',
    `- name: '@offshoot/subagent-acp'\n  config: ${JSON.stringify({ name: 'helper', ...fakeAgent(), env })}`,
    ...Object.entries(providers).map(([toolName, provider]) => `- name: '@offshoot/tool-subagent'\n  config: { provider: ${provider}, toolName: ${toolName}, concurrency: parallel }`),
  ].join('\n'))
  const app = await loadApp(path, { conditions: ['offshoot-source'], resolveFrom: [import.meta.url] })
  onTestFinished(async () => {
    await app.dispose()
    rmSync(dir, { recursive: true })
  })
  const model = fakeModel(({ prompt, providerOptions }) => {
    const { label } = providerOptions!['offshoot'] as { label: string }
    if (label !== 'main') return `${label} answers`
    return prompt.at(-1)?.role === 'tool' ? 'done' : { calls: Object.keys(tools).map(name => ({ name, args: { description: name, prompt: `Ask ${name}.` } })) }
  })
  app.ctx.models.register('main', model)
  return { app, model }
}

it('spawn, fork and an agent outside this process stand behind three named tools of one file, and each answers', async () => {
  const { env, survivors } = newTestMark()
  const { app, model } = await load(tools, env)
  const turn = await app.ctx.agents.create().run('Ask all three.')
  expect(turn.stopReason).toBe('completed')
  const results = model.requests.at(-1)!.prompt.at(-1)
  expect(results?.role === 'tool' && results.content.map(part => part.type === 'tool-result' && 'value' in part.output && part.output.value)).toEqual(['fresh answers', 'knowing answers', 'Ask elsewhere.'])
  expect(survivors()).toEqual([])
})

it('another provider behind a tool changes nothing that the model sees but the wording of what the child knows', async () => {
  const requestOver = async (provider: string): Promise<ModelRequest> => {
    const { app, model } = await load({ ...tools, fresh: provider })
    await app.ctx.agents.create().run('Ask all three.')
    return model.requests[0]!
  }
  const [spawn, elsewhere, fork] = [await requestOver('spawn'), await requestOver('helper'), await requestOver('fork')]
  // An agent elsewhere knows nothing of the conversation, as a fresh child does.
  expect(elsewhere.tools).toEqual(spawn.tools)
  expect(fork.tools).not.toEqual(spawn.tools)
  const [standalone, inherited] = [wordsOf(spawn, 'fresh'), wordsOf(fork, 'fresh')]
  expect(standalone).toEqual(wordsOf(spawn, 'elsewhere'))
  expect(inherited).toEqual(wordsOf(spawn, 'knowing'))
  expect(withWords(fork, 'fresh', standalone)).toEqual(spawn.tools)
  for (const { prompt } of [elsewhere, fork]) expect(prompt).toEqual(spawn.prompt)
})

/** What a tool says of itself, and of its `prompt`. */
interface Words {
  readonly description: string
  readonly prompt: string
}

function wordsOf({ tools: specs = [] }: ModelRequest, name: string): Words {
  const spec = specs.find(each => each.name === name)
  if (spec?.type !== 'function') throw new Error(`no tool "${name}"`)
  const { description = '', inputSchema } = spec
  const { prompt } = inputSchema.properties ?? {}
  return { description, prompt: (prompt as { description: string }).description }
}

/** The tools of a request, one of them in other words. */
function withWords({ tools: specs = [] }: ModelRequest, name: string, { description, prompt }: Words): unknown {
  return specs.map(spec => {
    if (spec.name !== name || spec.type !== 'function') return spec
    const { properties = {} } = spec.inputSchema
    return { ...spec, description, inputSchema: { ...spec.inputSchema, properties: { ...properties, prompt: { ...properties['prompt'] as object, description: prompt } } } }
  })
}
