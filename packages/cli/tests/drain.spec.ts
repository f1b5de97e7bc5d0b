import { startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { describe, expect, it } from 'vitest'
import { offshootHere } from './here.ts'
import { appConfig, folderWith, offshoot, start } from './support.ts'
import { gate, inBackground, lastMessageText, noticesOf, onWire, saidIn } from './wire.ts'

const never = new Promise<never>(() => {})
const oneChild = { calls: [inBackground('count files', 'Count.')] }
const threeChildren = { calls: [1, 2, 3].map(n => inBackground(`child ${n}`, `Child ${n}.`)) }

/** A folder with the app, and what it needs to reach `endpoint`. */
function inApp(endpoint: { readonly baseURL: string }) {
  return { cwd: folderWith({ 'cordis.yml': appConfig }), env: { OPENAI_BASE_URL: endpoint.baseURL } }
}

describe.concurrent('offshoot run, with children in the background', () => {
  it('exits only after the turn that used all of their results, with that turn\'s answer', async () => {
    const gates = [gate(), gate(), gate()]
    await using endpoint = await startEndpoint(request => {
      const last = lastMessageText(request)
      const child = /^Child (\d)\.$/.exec(last)?.[1]
      if (child !== undefined) return { hold: gates[Number(child) - 1]!.opened, text: `result ${child}` }
      if (last === 'Go.') return threeChildren
      return noticesOf(request).length === 0 ? { text: 'Started three.' } : { text: `I have ${saidIn(request, /result \d/g).join(', ')}.` }
    })
    const { process: command, finished, wrote } = start(['run', 'Go.'], { ...inApp(endpoint), input: '' })
    // The first turn is over.
    await wrote('stderr', /^offshoot: waiting for subagent-1 "child 1", subagent-2 "child 2", subagent-3 "child 3"$/m)
    gates[1]!.open()
    await wrote('stderr', /^offshoot: waiting for subagent-1 "child 1", subagent-3 "child 3"$/m)
    expect(command.exitCode).toBe(null)
    gates[0]!.open()
    gates[2]!.open()
    const { code, stdout, stderr } = await finished
    expect(code).toBe(0)
    const told = endpoint.requests.flatMap(noticesOf)
    expect(told.toSorted()).toEqual(['subagent-1 completed: result 1', 'subagent-2 completed: result 2', 'subagent-3 completed: result 3'])
    expect(saidIn(endpoint.requests.at(-1)!, /result \d/g).toSorted()).toEqual(['result 1', 'result 2', 'result 3'])
    // Of all its turns, the last one answers: one that knew the three.
    expect(stdout).toMatch(/^I have result 2, result \d, result \d\.\n$/)
    expect(stderr).toContain('run-1 research "child 1" [background subagent-1] started\n')
    expect(stderr).toContain('main: told of subagent-2 completed\n')
    expect(stderr).toMatch(/\nmain completed \(.+\n├─ run-1 research "child 1" \[background subagent-1\] completed \(.+\n├─ run-2 [^]*└─ run-3 research "child 3" \[background subagent-3\] completed/)
  })

  it('--drain cancel ends after one turn: what runs is cut and ended, each is named, and it is no success', async () => {
    await using endpoint = await startEndpoint(request => {
      const last = lastMessageText(request)
      if (last === 'Go.') return threeChildren
      return last.startsWith('Child') ? { hold: never } : { text: 'Started.' }
    })
    const { code, stdout, stderr } = await offshoot(['run', '--drain', 'cancel', 'Go.'], inApp(endpoint))
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'Started.\n' })
    expect(stderr).toMatch(/\n└─ run-3 research "child 3" \[background subagent-3\] aborted[^\n]*\noffshoot: background work was cut: subagent-1 "child 1" \(running\), subagent-2 "child 2" \(running\), subagent-3 "child 3" \(running\)\nusage: 5 requests, 200 in \+ 40 out tokens \(own 200 in \+ 40 out\), 3 children; tokens of 3 requests unknown\n$/)
    const children = endpoint.requests.filter(request => lastMessageText(request).startsWith('Child'))
    await Promise.all(children.map(child => child.closed))
    expect(children.every(child => child.aborted)).toBe(true)
  })

  it.each([['SIGINT', 130], ['SIGHUP', 129]] as const)('%s while only they run ends them too, and says so: exit %i', async (signal, expected) => {
    await using endpoint = await startEndpoint(request => onWire(request, {
      'Go.': oneChild, 'Count.': { hold: never }, 'started background subagent task subagent-1': { text: 'Started.' },
    }))
    const run = start(['run', '--json', 'Go.'], { ...inApp(endpoint), input: '' })
    await run.wrote('stdout', /"text":"Started\."/)
    run.process.kill(signal)
    const { code, stdout, stderr } = await run.finished
    expect(code).toBe(expected)
    expect(stderr).toMatch(/offshoot: interrupted after .+\noffshoot: background work was cut: subagent-1 "count files" \(running\)\n$/)
    const events = stdout.trimEnd().split('\n').map(line => JSON.parse(line) as Record<string, unknown>)
    expect(events.find(({ type }) => type === 'subagent-end')).toMatchObject({ runId: 'run-1', stopReason: 'aborted' })
    expect(events.at(-1)).toMatchObject({ type: 'result', stopReason: 'aborted', cut: [{ taskId: 'subagent-1', label: 'count files', status: 'running' }] })
  })

  it('--json has events for tasks, and for the turns that notices begin', async () => {
    const turnEnded = gate()
    await using endpoint = await startEndpoint(request => {
      if (noticesOf(request).length > 0) return { text: 'There are 4.' }
      return onWire(request, {
        'Go.': oneChild, 'Count.': { hold: turnEnded.opened, text: '4' }, 'started background subagent task subagent-1': { text: 'Started.' },
      })
    })
    const run = start(['run', '--json', 'Go.'], { ...inApp(endpoint), input: '' })
    await run.wrote('stdout', /"text":"Started\."/)
    turnEnded.open()
    const { code, stdout, stderr } = await run.finished
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const events = stdout.trimEnd().split('\n').map(line => JSON.parse(line) as Record<string, unknown>)
    const task = { taskId: 'subagent-1', kind: 'subagent', label: 'count files', agent: 'main', startedAt: expect.any(Number) }
    expect(events.filter(({ type }) => String(type).startsWith('task-'))).toEqual([
      { type: 'task-started', ...task },
      { type: 'task-settled', ...task, status: 'completed', output: '4', settledAt: expect.any(Number) },
    ])
    expect(events.filter(({ type, agent }) => type === 'turn-start' && agent === 'main').map(({ trigger }) => trigger)).toEqual(['prompt', 'notice'])
    expect(events.find(({ type }) => type === 'subagent-start')).toMatchObject({ tool: { name: 'research', taskId: 'subagent-1' } })
    expect(events.at(-1)).toMatchObject({ type: 'result', stopReason: 'completed', output: 'There are 4.', steps: 3 })
  })
})

describe('offshoot run, with children in the background that end before it or are cut', () => {
  it('--drain cancel is a success where nothing has to be cut', async () => {
    await using endpoint = await startEndpoint()
    expect(await offshootHere(['run', '--drain', 'cancel', 'Go.'], inApp(endpoint))).toEqual({ code: 0, stdout: 'ok\n', stderr: 'usage: 1 request, 100 in + 20 out tokens\n' })
  })

  it('says what was cut when the turn that reads a result fails while others run', async () => {
    await using endpoint = await startEndpoint(request => {
      if (noticesOf(request).length > 0) return { status: 400, error: 'no' }
      return onWire(request, {
        'Go.': { calls: [inBackground('quick', 'Quick.'), inBackground('slow', 'Slow.')] },
        'Quick.': { text: 'done' }, 'Slow.': { hold: never }, 'started background subagent task subagent-2': { text: 'Started.' },
      })
    })
    const { code, stdout, stderr } = await offshootHere(['run', '--quiet', 'Go.'], inApp(endpoint))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^offshoot: not completed \(error\): .+ 400: no\noffshoot: background work was cut: subagent-2 "slow" \(running\)\n$/)
  })

  it('says which children nobody collected, and of those that were nothing', async () => {
    await using endpoint = await startEndpoint(request => {
      const last = lastMessageText(request)
      if (last === 'Go.') return { calls: ['one', 'two'].map(task => ({ name: 'spawn_subagent', arguments: { task, name: task } })) }
      if (last === 'sub-1') return { calls: [{ name: 'collect_subagent', arguments: { subagent_id: 'sub-0' } }] }
      return { text: `did ${last}` }
    })
    const cwd = folderWith({ 'cordis.yml': `${appConfig}- name: '@offshoot/tool-fanout'\n  config: { provider: spawn }\n` })
    const { code, stdout, stderr } = await offshoot(['run', 'Go.'], { cwd, env: { OPENAI_BASE_URL: endpoint.baseURL } })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'did did one\n' })
    expect(stderr).toContain('\noffshoot: nobody collected fanout-2 "two" (completed)\n')
  })
})
