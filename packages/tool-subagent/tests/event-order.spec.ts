import type { Agent, AgentEvent } from '@offshoot/agent'
import type { ModelRequest } from '@offshoot/model'
import { fakeModel } from '@offshoot/model/testing'
import type { ProviderRun, ProviderStartRequest } from '@offshoot/subagent'
import { SpawnProvider } from '@offshoot/subagent-spawn'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { App, gate, parentTask } from './support.ts'

/** The steps of a tree in the architecture page, from top to bottom: of a call that waits, or of one in the background. */
function shownOrder(mode: 'foreground' | 'background' = 'foreground'): string[] {
  const page = readFileSync(new URL('../../../docs/architecture.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split(/^## One delegation, in order$/m)
  const trees = Array.from(section.matchAll(/^```\n([^]*?)\n```$/gm), ([, tree]) => tree!)
  return trees[mode === 'foreground' ? 0 : 1]!.split('\n').map(line => line.replace(/^[│├└─ ]+/, '').replace(/ {2,}.*$/, ''))
}

/**
 * An app whose one delegation is written down as it happens, by everyone who takes part in it. With `inBackground`,
 * the call does not wait, and the child answers when that settles.
 */
async function recorded(app: App, inBackground?: Promise<void>): Promise<{ parent: Agent, order: string[] }> {
  const { ctx } = app
  const order: string[] = []
  const follow = (name: string, agent: Agent): void => {
    agent.on(({ type }: AgentEvent) => { if (type !== 'text-delta') order.push(`${name} ${type}`) })
  }
  ctx.models.register('recorded', fakeModel(request => {
    const child = isChild(request)
    order.push(child ? 'child request' : 'parent request')
    if (child && inBackground) return { hold: inBackground, text: 'answer' }
    if (child || request.prompt.length > 2) return 'answer'
    const args = { description: 'the child', prompt: 'Say what you know.', run_in_background: inBackground !== undefined }
    return { calls: [{ name: 'subagent', args }] }
  }))
  const parent = ctx.agents.create({ model: 'recorded' })
  follow('parent', parent)
  ctx.on('agent/created', child => {
    order.push('agent/created')
    follow('child', child)
  })
  ctx.on('agent/disposed', () => { order.push('agent/disposed') })
  ctx.on('subagent/start', () => { order.push('subagent/start') })
  ctx.on('subagent/end', () => { order.push('subagent/end') })
  ctx.on('task/started', () => { order.push('task/started') })
  ctx.on('task/settled', () => { order.push('task/settled') })

  const { core } = ctx.subagents
  const start = core.start.bind(core)
  core.start = async (name, request) => {
    order.push('subagents.start()')
    const run = await start(name, request)
    order.push('start() fulfils')
    return run
  }
  ctx.subagents.registerProvider(new WatchedProvider('watched', ctx.agents.core, step => { order.push(step) }))
  return { parent, order }
}

function isChild(request: ModelRequest): boolean {
  return request.prompt[1]?.role === 'user' && JSON.stringify(request.prompt[1].content).includes('Say what you know.')
}

/** `spawn`, telling when the service calls it. */
class WatchedProvider extends SpawnProvider {
  private readonly tell: (step: string) => void

  constructor(name: string, agents: ConstructorParameters<typeof SpawnProvider>[1], tell: (step: string) => void) {
    super(name, agents)
    this.tell = tell
  }

  override async start(request: ProviderStartRequest): Promise<ProviderRun> {
    const { tell } = this
    tell('provider.start()')
    const run = await super.start(request)
    return {
      agent: run.agent!,
      result: run.result,
      begin() {
        tell('begin()')
        run.begin!()
      },
      dispose() {
        tell('dispose()')
        return run.dispose()
      },
    }
  }
}

it('goes through a delegation in the order that the architecture page shows', async () => {
  await using app = await App.start([{ provider: 'watched' }])
  const { parent, order } = await recorded(app)
  expect((await parent.run(parentTask)).stopReason).toBe('completed')
  expect(order).toEqual(shownOrder())
})

it('goes through a delegation in the background in the order that the architecture page shows', async () => {
  await using app = await App.start([{ provider: 'watched' }])
  const answers = gate()
  const { parent, order } = await recorded(app, answers.opened)
  expect((await parent.run(parentTask)).stopReason).toBe('completed')
  answers.open()
  expect((await parent.untilQuiet())?.stopReason).toBe('completed')
  // What the service and the provider say to each other is the same, and shown in the other tree.
  const shownThere = ['provider.start()', 'begin()', 'start() fulfils']
  expect(order).toEqual(expect.arrayContaining(shownThere))
  expect(order.filter(step => !shownThere.includes(step))).toEqual(shownOrder('background'))
})

it('leaves out everything between the start and the tool result where the start is refused', async () => {
  await using app = await App.start([{ provider: 'watched' }], { subagents: { maxDepth: 0 } })
  const { parent, order } = await recorded(app)
  expect((await parent.run(parentTask)).stopReason).toBe('completed')
  const shown = shownOrder()
  const [refused, resumed] = [shown.indexOf('subagents.start()'), shown.indexOf('parent tool-end')]
  expect(order).toEqual([...shown.slice(0, refused + 1), ...shown.slice(resumed)])
})

it('ends a child that fails, and one that is aborted, in the same order', async () => {
  const shown = shownOrder()
  const ending = shown.slice(shown.indexOf('child turn-end'), shown.indexOf('parent tool-end') + 1)
  for (const how of ['fails', 'is aborted']) {
    await using app = await App.start([{ provider: 'watched', agentOptions: { model: how } }])
    const { parent, order } = await recorded(app)
    app.ctx.models.register(how, fakeModel(() => {
      if (how === 'is aborted') parent.abort()
      return { error: new Error('broken') }
    }))
    await parent.run(parentTask)
    expect(app.ended.map(([, { stopReason }]) => stopReason)).toEqual([how === 'fails' ? 'error' : 'aborted'])
    const from = order.indexOf('child turn-end')
    expect(order.slice(from, from + ending.length)).toEqual(ending)
  }
})
