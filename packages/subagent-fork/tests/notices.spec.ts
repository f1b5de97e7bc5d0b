import { extendsRequest, messagesOf } from '@offshoot/model-ai-sdk/testing'
import { expect, it } from 'vitest'
import { App, delegate, isChild, isPin, lastOf, repeats } from './support.ts'

const seeds = ['turns', 'steps'] as const

function notice(text: string): { text(): string, delivered(): void } {
  return { text: () => text, delivered: () => {} }
}

const contents = (request: Parameters<typeof messagesOf>[0]): unknown[] => messagesOf(request).map(({ content }) => content)

it.each(seeds)('a fork has the notices that the parent was told, where they stand in its log, with seed "%s"', async seed => {
  await using app = await App.start({ seed })
  const parent = app.agent()
  app.script(() => ({ text: 'Noted.' }))
  await parent.run('First.')
  parent.inject(notice('<task-notice task="build-1" status="completed">All green.</task-notice>'))
  await parent.untilQuiet()
  app.script(request => isChild(request) ? { text: 'Done.' } : lastOf(request).role === 'tool' ? { text: 'Fine.' } : { calls: [delegate()] })
  await parent.run('Second.')
  expect(extendsRequest(app.parents[1]!, app.children[0]!)).toBe(true)
  expect(contents(app.children[0]!).slice(0, 4)).toEqual(['First.', 'Noted.', '<task-notice task="build-1" status="completed">All green.</task-notice>', 'Noted.'])
  expect(app.started[0]!.seed?.turns).toBe(2)
})

it('a fork from a turn that a notice began leaves the notice out with seed "turns", and has it with seed "steps"', async () => {
  for (const seed of seeds) {
    await using app = await App.start({ seed })
    const parent = app.agent()
    await parent.run('First.')
    app.script(request => isChild(request) ? { text: 'Done.' } : lastOf(request).role === 'tool' ? { text: 'Fine.' } : { calls: [delegate()] })
    parent.inject(notice('It is over.'))
    await parent.untilQuiet()
    expect(contents(app.children[0]!).includes('It is over.')).toBe(seed === 'steps')
    expect(app.started[0]!.seed).toEqual({ turns: 1, steps: 0, moved: [], coldCache: false })
    expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual(['completed'])
  }
})

it.each(seeds)('a notice that waits while a fork is taken is told to the parent alone, with seed "%s"', async seed => {
  await using app = await App.start({ seed })
  const parent = app.agent()
  app.script(request => {
    if (isChild(request)) {
      parent.inject(notice('For the parent.'))
      return { text: 'Done.' }
    }
    return lastOf(request).role === 'user' && lastOf(request).content === 'First.' ? { calls: [delegate('One.')] } : { text: 'Fine.' }
  })
  await parent.run('First.')
  for (const child of app.children) expect(child.text).not.toContain('For the parent.')
  expect(contents(app.parents.at(-1)!)).toContain('For the parent.')
})

it.each(seeds)('a fork has the tool call and answer of background work, and reads of its end only after that was told, with seed "%s"', async seed => {
  await using app = await App.start({ seed })
  const parent = app.agent()
  const inBackground = { name: 'subagent', arguments: { description: 'later', prompt: 'Take your time.', run_in_background: true } }
  app.script(request => {
    const { role, content } = lastOf(request)
    if (isPin(lastOf(request))) return { text: (content as string).endsWith('Take your time.') ? 'The slow one is done.' : 'The quick one is done.' }
    if (content === 'First.') return { calls: [inBackground] }
    return content === 'Second.' ? { calls: [delegate('Be quick.')] } : { text: role === 'tool' ? 'Fine.' : 'Read.' }
  })
  await parent.runToQuiet('First.')
  await parent.run('Second.')
  const last = app.children.at(-1)!
  expect(messagesOf(last).filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual(['started background subagent task subagent-1'])
  expect(contents(last).filter(content => typeof content === 'string' && content.includes('The slow one is done.'))).toHaveLength(1)
  const before = app.parents.find(({ body }) => body.messages.at(-1)!.content === 'Second.')!
  expect(repeats(last, before, last.body.messages.length - 1)).toBe(true)
})
