import { Context } from 'cordis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createNotify, type Notify } from '../src/index.ts'
import { start } from './support.ts'

declare module 'cordis' {
  interface Events {
    'test/event'(text: string, n: number): unknown
  }
}

function app(): { ctx: Context, notify: Notify, logged: unknown[] } {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  const logged: unknown[] = []
  ctx.logger.exporter({ colors: false, levels: { default: 3 }, export: ({ args }: { args: unknown[] }) => { logged.push(args[0]) } } as never)
  return { ctx, notify: createNotify(ctx), logged }
}

describe('createNotify()', () => {
  it('sends to every listener, with the arguments, in the order in which they began to listen', () => {
    const { ctx, notify } = app()
    const heard: unknown[] = []
    ctx.on('test/event', (...args) => { heard.push(['first', ...args]) })
    ctx.on('test/event', (...args) => { heard.push(['second', ...args]) })
    ctx.on('test/event', (...args) => { heard.push(['before', ...args]) }, { prepend: true })
    notify('test/event', 'hello', 2)
    expect(heard).toEqual([['before', 'hello', 2], ['first', 'hello', 2], ['second', 'hello', 2]])
  })

  it('may have nobody to send to', () => {
    expect(() => { app().notify('test/event', 'hello', 1) }).not.toThrow()
  })

  it('logs a listener that throws or rejects; the sender and the listeners after it notice nothing', async () => {
    const { ctx, notify, logged } = app()
    const heard: string[] = []
    ctx.on('test/event', () => { throw new Error('thrown') })
    ctx.on('test/event', () => Promise.reject(new Error('rejected')))
    ctx.on('test/event', async () => { throw new Error('async') })
    ctx.on('test/event', text => { heard.push(text) })
    expect(() => { notify('test/event', 'hello', 1) }).not.toThrow()
    expect(heard).toEqual(['hello'])
    await Promise.resolve()
    expect(logged).toEqual([new Error('thrown'), new Error('rejected'), new Error('async')])
  })

  it('does not stop at a listener that answers something, as `bail` would', () => {
    const { ctx, notify } = app()
    const heard: string[] = []
    ctx.on('test/event', () => true)
    ctx.on('test/event', text => { heard.push(text) })
    notify('test/event', 'hello', 1)
    expect(heard).toEqual(['hello'])
  })

  it('reaches a listener no more once it is removed, nor those of a plugin that is gone', async () => {
    const { ctx, notify } = app()
    const heard: string[] = []
    const off = ctx.on('test/event', () => { heard.push('removed') })
    const plugin = ctx.plugin({ name: 'listening', apply: (inner: Context) => { inner.on('test/event', () => { heard.push('plugin') }) } })
    await plugin
    notify('test/event', 'hello', 1)
    off()
    notify('test/event', 'hello', 1)
    await plugin.dispose()
    notify('test/event', 'hello', 1)
    expect(heard).toEqual(['removed', 'plugin', 'plugin'])
    ctx.on('test/event', () => { heard.push('later') })
    notify('test/event', 'hello', 1)
    expect(heard.at(-1)).toBe('later')
  })

  it('sends to those that listened when it began, whatever they do to each other', () => {
    const { ctx, notify } = app()
    const heard: string[] = []
    ctx.on('test/event', () => {
      heard.push('first')
      off()
      ctx.on('test/event', () => { heard.push('added') })
    })
    const off = ctx.on('test/event', () => { heard.push('second') })
    notify('test/event', 'hello', 1)
    expect(heard).toEqual(['first', 'second'])
  })

  it('reaches what cordis\'s own `emit` reaches', () => {
    const { ctx, notify } = app()
    const heard: string[] = []
    ctx.on('test/event', text => { heard.push(`plain ${text}`) })
    ctx.once('test/event', text => { heard.push(`once ${text}`) })
    ctx.isolate('sessions').on('test/event', text => { heard.push(`isolated ${text}`) })
    ctx.emit('test/event', 'emitted', 1)
    ctx.once('test/event', text => { heard.push(`once ${text}`) })
    notify('test/event', 'notified', 1)
    notify('test/event', 'again', 1)
    const reachedBy = (word: string): string[] => heard.filter(line => line.endsWith(word)).map(line => line.split(' ')[0]!).sort()
    expect(reachedBy('notified')).toEqual(reachedBy('emitted'))
    expect(heard).not.toContain('once again')
  })
})

it('an observer of agents that throws costs nobody anything', async () => {
  const { ctx, logged } = await start(() => 'ok')
  const broken = new Error('observer')
  ctx.on('agent/created', () => { throw broken })
  ctx.on('agent/disposed', () => { throw broken })
  const agent = ctx.agents.create()
  expect((await agent.run('Go.')).stopReason).toBe('completed')
  await agent.dispose()
  expect(ctx.agents.list()).toEqual([])
  expect(logged).toEqual([broken, broken])
})
