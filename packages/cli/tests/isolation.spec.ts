import { messagesOf, type RecordedRequest, startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { git, newRepo } from '../../../tests/git.ts'
import { folderWith, offshoot } from './support.ts'
import { gate } from './wire.ts'

const bin = fileURLToPath(new URL('../lib/bin.cjs', import.meta.url))

const model = `
- name: '@offshoot/model-ai-sdk'
  config: { baseURL: !!js process.env.OPENAI_BASE_URL, model: test-model }
- name: '@offshoot/tool-shell'
- name: '@offshoot/tool-files'
`

/** An app whose tool \`isolate\` is over one provider; \`elsewhere\` is an agent outside the process. */
const app = (provider: string, config: string, trees: string): string => `
- name: '@offshoot/runtime'
- name: '@offshoot/worktree'
  config: { dir: ${JSON.stringify(trees)} }
- name: '@offshoot/subagent-acp'
  config: { name: elsewhere, command: ${process.execPath}, args: [${bin}, acp, -c, ${JSON.stringify(config)}], inheritEnv: [OPENAI_BASE_URL] }
- name: '@offshoot/tool-subagent'
  config: { provider: ${provider}, toolName: isolate, isolation: worktree, concurrency: parallel }
${model}`

const textOf = (content: unknown): string => typeof content === 'string' ? content : JSON.stringify(content)
const lastUser = (request: RecordedRequest): string => textOf(messagesOf(request).findLast(({ role }) => role === 'user')?.content)
/** What the tools of the last step said. */
const toolTexts = (request: RecordedRequest): string[] => {
  const messages = messagesOf(request)
  return messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1).map(({ content }) => textOf(content))
}

describe.each(['spawn', 'fork', 'elsewhere'])('isolation: worktree over %s', provider => {
  it('five children at once write the same file, each its own; the parent\'s checkout stays clean', async () => {
    const folder = folderWith({ 'child.yml': `- name: '@offshoot/runtime'\n${model}` })
    const { repo, trees } = newRepo()
    writeFileSync(join(folder, 'cordis.yml'), app(provider, join(folder, 'child.yml'), trees))
    const begun = gate()
    let count = 0
    const prompts: string[] = []
    await using endpoint = await startEndpoint(async request => {
      const task = /write (\d)$/.exec(lastUser(request))
      const said = toolTexts(request)
      if (!task) return said.length > 0 ? { text: said.join('\n====\n') } : { calls: [0, 1, 2, 3, 4].map(i => ({ name: 'isolate', arguments: { description: `child ${i}`, prompt: `write ${i}` } })) }
      if (said.length > 0) return { text: said[0]!.trim() }
      prompts.push(request.text)
      // All five are at it at once.
      if (++count === 5) begun.open()
      await begun.opened
      return { calls: [{ name: 'shell', arguments: { command: `echo content ${task[1]} > same.txt; pwd` } }] }
    })
    const { code, stdout, stderr } = await offshoot(['run', '--cwd', repo, '-c', join(folder, 'cordis.yml'), 'Go.'], { cwd: folder, env: { OPENAI_BASE_URL: endpoint.baseURL } })
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    const answers = stdout.trim().split('\n====\n')
    expect(answers).toHaveLength(5)
    const paths = answers.map(answer => answer.split('\n')[0]!)
    expect(new Set(paths).size).toBe(5)
    for (const [i, path] of paths.entries()) {
      expect(path.startsWith(`${trees}/`)).toBe(true)
      expect(answers[i]).toContain(`<worktree path="${path}" commits="0">\nsame.txt\n</worktree>`)
      expect(readFileSync(join(path, 'same.txt'), 'utf8')).toBe(`content ${i}\n`)
      // What a child is told names its own place, and not its parent's.
      const told = prompts.find(prompt => prompt.includes(`write ${i}"`))!
      expect(told).toContain(path)
      expect(told).not.toContain(repo)
    }
    expect(git(repo, 'status', '--porcelain')).toBe('')
    expect(existsSync(join(repo, 'same.txt'))).toBe(false)
  })
})

it('a tool that isolates is not there where nothing makes worktrees, and that is said', async () => {
  const folder = folderWith({ 'cordis.yml': `- name: '@offshoot/runtime'\n- name: '@offshoot/tool-subagent'\n  config: { provider: spawn, isolation: worktree }\n${model}` })
  const { code, stderr } = await offshoot(['check'], { cwd: folder, env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' } })
  expect(code).toBe(2)
  expect(stderr).toMatch(/cordis\.yml:2:3: .*tool "subagent" isolates its children in worktrees, and nothing makes any; load @offshoot\/worktree/)
})
