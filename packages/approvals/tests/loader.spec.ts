import { loadApp } from '@offshoot/loader'
import { fakeModel } from '@offshoot/model/testing'
import type {} from '@offshoot/session'
import type {} from '@offshoot/tool-files'
import type {} from '@offshoot/tool-shell'
import type {} from '@offshoot/tools'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import ApprovalService, * as approvals from '../src/index.ts'

const file = fileURLToPath(new URL('cordis.yml', import.meta.url))
const options = { conditions: ['offshoot-source'] }

function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'offshoot-approvals-'))
  onTestFinished(() => { rmSync(dir, { recursive: true }) })
  return dir
}

it('loads by its name from a config file, and holds for real tools: what is denied leaves nothing on disk', async () => {
  const app = await loadApp(file, options)
  onTestFinished(() => app.dispose())
  const cwd = newFolder()
  const [made, written] = [join(cwd, 'made'), join(cwd, 'written')]
  const model = fakeModel(({ prompt }) => prompt.at(-1)?.role === 'tool' ? 'ok' : { calls: [
    { name: 'shell', args: { command: `touch ${made}` } },
    { name: 'write_file', args: { path: 'written', content: 'here' } },
    { name: 'list_files', args: {} },
  ] })
  app.ctx.models.register('main', model)
  const agent = app.ctx.agents.create({ cwd })
  await agent.run('Headless.')
  expect([existsSync(made), existsSync(written)]).toEqual([false, false])
  const text = JSON.stringify(model.requests.at(-1)!.prompt)
  expect(text).toContain('\\"shell\\" is not allowed here (approvals: execute is \\"deny\\")')
  expect(text).toContain('\\"write_file\\" needs an approval, and nobody is here to give it (approvals: tools.write_file;')

  app.ctx.approvals.attend({ asked: approval => { approval.allow() } })
  await agent.run('Attended.')
  expect([existsSync(made), existsSync(written)]).toEqual([false, true])
})

it('asks for the real tools that write, and for none that only read', async () => {
  const dir = newFolder()
  const config = join(dir, 'cordis.yml')
  writeFileSync(config, '- name: \'@offshoot/runtime\'\n  config: { approvals: { write: ask, execute: deny } }\n- name: \'@offshoot/tool-shell\'\n- name: \'@offshoot/tool-files\'\n')
  const app = await loadApp(config, { ...options, resolveFrom: [import.meta.url] })
  onTestFinished(() => app.dispose())
  writeFileSync(join(dir, 'kept.txt'), 'old')
  const calls = [
    { name: 'read_file', args: { path: 'kept.txt' } },
    { name: 'edit_file', args: { path: 'kept.txt', old_text: 'old', new_text: 'new' } },
    { name: 'write_file', args: { path: 'made.txt', content: 'here' } },
    { name: 'shell', args: { command: 'touch shelled.txt' } },
  ]
  const model = fakeModel(({ prompt }) => prompt.at(-1)?.role === 'tool' ? 'ok' : { calls })
  app.ctx.models.register('main', model)
  const asked: string[] = []
  app.ctx.approvals.attend({ asked: approval => {
    const { tool, effect, summary } = approval.request
    asked.push(`${tool} (${effect}): ${summary}`)
    if (tool === 'edit_file') approval.deny('leave it')
    else approval.allow()
  } })
  await app.ctx.agents.create({ cwd: dir }).run('Go.')
  expect(asked).toEqual(['edit_file (write): kept.txt old new', 'write_file (write): made.txt here'])
  expect(readFileSync(join(dir, 'kept.txt'), 'utf8')).toBe('old')
  expect([existsSync(join(dir, 'made.txt')), existsSync(join(dir, 'shelled.txt'))]).toEqual([true, false])
})

it('says where a tool is named that nobody offers', async () => {
  const config = join(newFolder(), 'cordis.yml')
  writeFileSync(config, '- name: \'@offshoot/runtime\'\n  config: { approvals: { tools: { shel: deny } } }\n- name: \'@offshoot/tool-shell\'\n')
  const refused = await loadApp(config, { ...options, resolveFrom: [import.meta.url] }).catch((error: unknown) => error)
  expect(refused).toMatchObject({ message: expect.stringMatching(/cordis\.yml:1:3: .*names a tool that nobody offers: "shel"; did you mean "shell"/) })
})

it('is its default export, as a service is', () => {
  expect(approvals.default).toBe(ApprovalService)
  expect(ApprovalService.inject).toEqual(['agents', 'tools'])
})
