import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as toolSubagent from '../src/index.ts'
import { App, endedRun, inBackground, isParent, lastMessage, oddProvider, parentTask, taskTools, tasksPlugin } from './support.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

describe('the README says what the model pays, in bytes on the wire:', () => {
  /** Of the tools in the parent's first request, each by its name. */
  async function toolSizes(inheritsParentContext: boolean, withTasks: boolean): Promise<Map<string, number>> {
    await using app = await App.start([{ provider: 'odd' }])
    if (!withTasks) await tasksPlugin(app.ctx).dispose()
    app.ctx.subagents.registerProvider({ ...oddProvider(() => Promise.reject(new Error('not started here'))), inheritsParentContext })
    await app.agent().run(parentTask)
    return new Map(app.endpoint.requests[0]!.body.tools!.map(tool => [tool.function.name, Buffer.byteLength(JSON.stringify(tool))]))
  }

  it.each([['fresh', false], ['inheriting', true]])('the tool over a provider of %s children, without and with background mode', async (children, inherits) => {
    const sizes = [await toolSizes(inherits, false), await toolSizes(inherits, true)].map(size => size.get('subagent'))
    expect(readme).toContain(`| Tool, ${children} children | ${sizes[0]} | ${sizes[1]} |`)
  })

  it('the task tools', async () => {
    const sizes = await toolSizes(false, true)
    expect(readme).toContain(`| Task tools | – | ${taskTools.reduce((sum, name) => sum + sizes.get(name)!, 0)} |`)
  })

  it('a background start, and its notice around the text', async () => {
    await using app = await App.start([{ provider: 'odd' }])
    const text = 'The final text.'
    app.ctx.subagents.registerProvider(oddProvider(async () => endedRun('completed', text)))
    app.endpoint.respond(request => isParent(request) && lastMessage(request).content === parentTask
      ? { calls: [{ name: 'subagent', arguments: inBackground }] }
      : { text: 'Done.' })
    await app.agent().runToQuiet(parentTask)
    const messages = app.endpoint.requests.at(-1)!.body.messages
    const [answer, notice] = ['tool', 'user'].map(role => Buffer.byteLength(messages.findLast(message => message.role === role)!.content as string))
    expect(readme).toContain(`with no child started. | ${answer} bytes stay. |`)
    expect(readme).toContain(`| ${notice! - text.length} bytes and the text, once.`)
  })

  it('the longest result that a notice carries itself', async () => {
    await using app = await App.start()
    expect(readme).toContain(`longer than ${app.ctx.tasks.core.limits.inlineBytes} bytes`)
  })
})

it('the README has each key of the config, with its default', () => {
  const rows = Array.from(readme.matchAll(/^\| `(\w+)` \| (.+?) \|/gm), ([, key, value]) => [key!, value!.replaceAll('`', '')])
  const defaults = toolSubagent.Config({ provider: 'required' }) as unknown as Record<string, string | boolean | undefined>
  expect(rows.map(([key]) => key)).toEqual(Object.keys(toolSubagent.Config.dict!))
  expect(rows).toEqual(rows.map(([key]) => [key, String(defaults[key!] ?? '–')]))
})
