import { missingCapability, type ProviderStartRequest, type SubagentProvider } from '@offshoot/subagent'
import { defineTool } from '@offshoot/tools'
import { Type } from '@sinclair/typebox'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as toolSubagent from '../src/index.ts'
import { App, endedRun, gate, inBackground, lastMessage, oddProvider, tasksPlugin } from './support.ts'

// The two states of the tool that the project implements, side by side: the earlier one in the foreground alone, the later
// one with background tasks. Where the later one is silent, the earlier one holds.
const texts = JSON.parse(readFileSync(new URL('specified-texts.json', import.meta.url), 'utf8')) as {
  readonly label: string
  readonly standalone: { readonly tool: string, readonly prompt: string }
  readonly inherited: { readonly tool: string, readonly prompt: string }
}

// Neither document has a wording for these: what matters is that they only add, and stay as they are.
const appended = ' With run_in_background the call returns at once with a task id while the subagent works on; its result is brought to you in a notice when it is done. Do not wait or poll for it: continue with other work, or end your turn.'
const backgroundText = 'Return at once and let the subagent work in the background; its result comes in a notice. Default: wait for the result.'

interface Setting {
  readonly background: boolean
  readonly tasks: boolean
}

const settings: [string, Setting][] = [
  ['background on, with ctx.tasks', { background: true, tasks: true }],
  ['background on, without ctx.tasks', { background: true, tasks: false }],
  ['background off, with ctx.tasks', { background: false, tasks: true }],
  ['background off, without ctx.tasks', { background: false, tasks: false }],
]

async function start({ background, tasks }: Setting, provider: SubagentProvider): Promise<App> {
  const app = await App.start([{ provider: 'odd', enableRunInBackground: background }])
  if (!tasks) await tasksPlugin(app.ctx).dispose()
  app.ctx.subagents.registerProvider(provider)
  return app
}

function providerEnding(stopReason: string, text = ''): SubagentProvider {
  return oddProvider(async () => endedRun(stopReason, text))
}

/** One call by an agent of `app`, as its model reads the result. */
async function call(app: App, args: Record<string, unknown>, agent = app.agent(), signal?: AbortSignal, tool = 'subagent'): Promise<{ isError: boolean, text: string }> {
  const { isError, content } = await agent.tools.execute(tool, args, { callId: 'c', agent, ...(signal ? { signal } : {}) })
  return { isError, text: content.map(block => block.type === 'text' ? block.text : block.type).join() }
}

const foreground = { description: 'd', prompt: 'p' }

const endings: [string, string, string][] = [
  ['completed', 'The final text.', 'The final text.'],
  ['aborted', '', 'Error: subagent run was cancelled'],
  ['error', 'partial', 'Error: subagent run failed'],
  ['max-tokens', 'partial', 'Error: subagent run hit its token limit before finishing'],
  ['refusal', 'partial', 'Error: subagent declined the task'],
  ['max-steps', 'partial', 'Error: subagent run ended abnormally (max-steps)'],
  ['empty-output', '', 'Error: subagent run ended abnormally (empty-output)'],
  ['never-heard-of', 'partial', 'Error: subagent run ended abnormally (never-heard-of)'],
]

describe.each(settings)('%s', (_name, setting) => {
  const canRunInBackground = setting.background && setting.tasks

  it.each([['standalone', false], ['inherited', true]] as const)('the schema and wording over a provider with %s context', async (wording, inheritsParentContext) => {
    await using app = await start(setting, { ...providerEnding('completed', 'x'), inheritsParentContext })
    expect(app.agent().tools.get('subagent')!.spec).toEqual({
      type: 'function',
      name: 'subagent',
      description: texts[wording].tool + (canRunInBackground ? appended : ''),
      inputSchema: {
        type: 'object',
        required: ['description', 'prompt'],
        properties: {
          description: { type: 'string', description: texts.label },
          prompt: { type: 'string', description: texts[wording].prompt },
          ...(canRunInBackground ? { run_in_background: { type: 'boolean', description: backgroundText } } : {}),
        },
      },
    })
  })

  it.each(endings)('the foreground result of %s, after the child was disposed', async (stopReason, output, text) => {
    let disposals = 0
    await using app = await start(setting, oddProvider(async () => ({ ...endedRun(stopReason, output), dispose: async () => { disposals++ } })))
    expect(await call(app, foreground)).toEqual({ isError: stopReason !== 'completed', text })
    expect(disposals).toBe(1)
  })

  it('a start that fails', async () => {
    await using app = await start(setting, oddProvider(() => Promise.reject(new Error('no room'))))
    expect(await call(app, foreground)).toEqual({ isError: true, text: 'Error: subagent provider "odd" could not start a child: no room' })
  })

  it('a call without an owning agent', async () => {
    await using app = await start(setting, providerEnding('completed', 'x'))
    const result = await app.ctx.tools.view().execute('subagent', foreground, { callId: 'c' })
    expect(result).toEqual({ isError: true, content: [{ type: 'text', text: 'Error: subagent tool requires a calling agent (exec.agent was undefined)' }] })
  })

  it('a call that waits for its result, said explicitly', async () => {
    await using app = await start(setting, providerEnding('completed', 'The final text.'))
    expect(await call(app, { ...foreground, run_in_background: false })).toEqual({ isError: false, text: 'The final text.' })
  })

  it('a foreground call passes its signal on, and one that never aborts where it has none', async () => {
    const seen: ProviderStartRequest[] = []
    await using app = await start(setting, oddProvider(async request => {
      seen.push(request)
      return endedRun('completed', 'x')
    }))
    const controller = new AbortController()
    await call(app, foreground)
    await call(app, foreground, app.agent(), controller.signal)
    expect(seen.map(({ callerSignal }) => callerSignal === controller.signal)).toEqual([false, true])
    expect(seen[0]!.callerSignal.aborted).toBe(false)
  })

  it('a background call: exactly its acknowledgement, or a refusal that starts no child and no task', async () => {
    let starts = 0
    await using app = await start(setting, oddProvider(async () => {
      starts++
      return endedRun('completed', 'x')
    }))
    const why = setting.background
      ? 'nothing can run in the background here (the app has no ctx.tasks)'
      : 'background mode is switched off for this tool (enableRunInBackground)'
    expect(await call(app, inBackground)).toEqual(canRunInBackground
      ? { isError: false, text: 'started background subagent task subagent-1' }
      : { isError: true, text: `Error: ${why}; call "subagent" without run_in_background` })
    expect(starts).toBe(canRunInBackground ? 1 : 0)
    expect(app.ctx.get('tasks')?.list() ?? []).toHaveLength(canRunInBackground ? 1 : 0)
  })

  it('the calls are exclusive', async () => {
    await using app = await start(setting, providerEnding('completed', 'x'))
    expect(app.agent().tools.get('subagent')!.concurrency).toBe('exclusive')
  })
})

describe('a background task', () => {
  const on: Setting = { background: true, tasks: true }

  it.each(endings)('of a child that ended %s: its status, its notice, and what task_output reads', async (stopReason, output, text) => {
    await using app = await start(on, providerEnding(stopReason, output))
    const agent = app.agent()
    await call(app, inBackground, agent)
    const { status } = await app.ctx.tasks.wait('subagent-1')
    expect(status).toBe(stopReason === 'completed' ? 'completed' : stopReason === 'aborted' ? 'killed' : 'failed')
    await agent.untilQuiet()
    const told = stopReason === 'aborted' ? '' : text.replace(/^Error: /, '')
    expect(app.endpoint.requests.at(-1)!.body.messages.at(-1)).toEqual({ role: 'user', content: `<task-notice task="subagent-1" status="${status}">${told}</task-notice>` })
    expect(await call(app, { task_id: 'subagent-1' }, agent, undefined, 'task_output')).toEqual({
      isError: stopReason !== 'completed',
      text: stopReason === 'aborted' ? 'Error: subagent-1 was killed' : text,
    })
  })

  it('is there before its provider starts, under a signal of its own, which covers the child after the call has returned', async () => {
    const seen: ProviderStartRequest[] = []
    await using app = await start(on, oddProvider(async request => {
      expect(app.ctx.tasks.get('subagent-1')).toMatchObject({ status: 'running' })
      seen.push(request)
      return { ...endedRun('aborted'), result: new Promise(resolve => { request.callerSignal.addEventListener('abort', () => { resolve(endedRun('aborted').result) }) }) }
    }))
    const controller = new AbortController()
    const agent = app.agent()
    await call(app, inBackground, agent, controller.signal)
    controller.abort()
    expect(seen[0]!.callerSignal.aborted).toBe(false)
    expect(await call(app, { task_id: 'subagent-1', reason: 'enough' }, agent, undefined, 'task_kill')).toEqual({ isError: false, text: 'subagent-1 was killed: enough' })
    expect(seen[0]!.callerSignal.aborted).toBe(true)
  })

  it('has no incremental read: while it runs its owner reads how far it is, never what the child wrote', async () => {
    await using app = await App.start()
    const [working, worked] = [gate(), gate()]
    app.ctx.tools.register(defineTool({
      name: 'dig', description: 'Digs.', parameters: Type.Object({}),
      execute: () => {
        working.open()
        return worked.opened.then(() => 'dug')
      },
    }))
    app.endpoint.respond(request => lastMessage(request).role === 'tool' ? { text: 'All.' } : { text: 'Half of the answer.', calls: [{ name: 'dig', arguments: {} }] })
    const agent = app.agent()
    await call(app, inBackground, agent)
    await working.opened
    const { text } = await call(app, { task_id: 'subagent-1' }, agent, undefined, 'task_output')
    expect(text).toMatch(/^subagent-1 \(look it up\) has not ended: running, \d s, step 1, in tool dig\. Do not poll: /)
    expect(text).not.toContain('Half')
    worked.open()
    expect(await call(app, { task_id: 'subagent-1', wait: true }, agent, undefined, 'task_output')).toEqual({ isError: false, text: 'All.' })
  })
})

describe('the config of both documents', () => {
  it('has their keys, and their defaults', () => {
    expect(Object.keys(toolSubagent.Config.dict!)).toEqual(expect.arrayContaining(['provider', 'toolName', 'enableRunInBackground', 'agentOptions', 'persona', 'toolFilter', 'maxDepth']))
    expect(toolSubagent.Config({ provider: 'spawn' })).toMatchObject({ toolName: 'subagent', enableRunInBackground: true })
    expect(() => toolSubagent.Config({})).toThrow(/provider/)
  })

  it.each([
    ['persona', { persona: 'You are terse.' }, 'persona'],
    ['toolFilter', { toolFilter: { deny: ['shell'] } }, 'toolFilter'],
    ['maxDepth', { maxDepth: 1 }, 'depthLimit'],
  ] as const)('%s needs the provider\'s capability', (_key, config, capability) => {
    const provider = providerEnding('completed', 'x')
    expect(missingCapability(provider, config)).toContain(`capability ${capability}`)
    expect(missingCapability({ ...provider, capabilities: { ...provider.capabilities, [capability]: true } }, config)).toBeUndefined()
  })

  it('hands the child its agentOptions, persona, filter and depth', async () => {
    const config = { agentOptions: { model: 'main', maxSteps: 3 }, persona: 'You are terse.', toolFilter: { allow: ['subagent'] }, maxDepth: 2 }
    await using app = await App.start([{ provider: 'odd', ...config }])
    let seen: ProviderStartRequest | undefined
    app.ctx.subagents.registerProvider({
      ...oddProvider(async request => {
        seen = request
        return endedRun('completed', 'x')
      }),
      capabilities: { outputSchema: false, depthLimit: true, toolFilter: true, persona: true },
    })
    for (const args of [foreground, inBackground]) {
      await call(app, args)
      expect(seen).toMatchObject(config)
    }
  })
})
