import { type Handler, messagesOf, type RecordedRequest, startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { describe, expect, it } from 'vitest'
import { offshootHere } from './here.ts'
import { appConfig, type Finished, folderWith, type Running, start, type StartOptions } from './support.ts'
import { type Gate, gate, inBackground, lastMessageText, noticesOf, saidIn } from './wire.ts'

const never = new Promise<never>(() => {})

/** Answers `Bg <label>` by a child in the background with the prompt `Child <label>`, which `child` answers; notices by what they tell; all else by itself. */
function talker(child: Handler, other: Handler = request => ({ text: `You said ${lastMessageText(request)}` })): Handler {
  return (request, index) => {
    const last = lastMessageText(request)
    const label = /^Bg (\w+)$/.exec(last)?.[1]
    if (label !== undefined) return { calls: [inBackground(label, `Child ${label}`)] }
    if (last.startsWith('Child ')) return child(request, index)
    if (noticesOf(request).length > 0) return { text: `Heard ${noticesOf(request).join(', ')}` }
    return last.startsWith('started background') ? { text: 'Started.' } : other(request, index)
  }
}

interface Chat extends Running, AsyncDisposable {
  readonly requests: readonly RecordedRequest[]
  /** Settles once a request was made that ends with this message. */
  asked(text: string): Promise<void>
}

/** `offshoot chat` over an endpoint that answers by `handler`. Without `input`, its standard input stays open. */
async function chatWith(handler: Handler, options: Partial<StartOptions> = {}, args: readonly string[] = []): Promise<Chat> {
  const gates = new Map<string, Gate>()
  const gateOf = (text: string): Gate => gates.get(text) ?? gates.set(text, gate()).get(text)!
  const endpoint = await startEndpoint((request, index) => {
    gateOf(lastMessageText(request)).open()
    return handler(request, index)
  })
  const chat = start(['chat', ...args], { cwd: folderWith({ 'cordis.yml': appConfig }), env: { OPENAI_BASE_URL: endpoint.baseURL }, ...options })
  return { ...chat, requests: endpoint.requests, asked: text => gateOf(text).opened, [Symbol.asyncDispose]: () => endpoint.close() }
}

/** The same in this process, with all of its lines at once. */
async function chatHere(handler: Handler, input: string, args: readonly string[] = []): Promise<Finished> {
  await using endpoint = await startEndpoint(handler)
  return await offshootHere(['chat', ...args], { cwd: folderWith({ 'cordis.yml': appConfig }), env: { OPENAI_BASE_URL: endpoint.baseURL }, input })
}

/** Hangs on `hang`, answers all else. */
const hangs: Handler = request => lastMessageText(request) === 'hang' ? { hold: never } : { text: `You said ${lastMessageText(request)}` }

describe.concurrent('offshoot chat, over a pipe', () => {
  it('makes each line a turn of one conversation, blank ones aside, and ends with 0 where they end', async () => {
    await using chat = await chatWith(talker(() => ({})), { input: 'one\n\n  \r\ntwo\r\nthe last, without its end' })
    expect(await chat.finished).toEqual({ code: 0, stdout: 'You said one\nYou said two\nYou said the last, without its end\n', stderr: '' })
    expect(messagesOf(chat.requests[2]!).map(({ content }) => content)).toEqual(['one', 'You said one', 'two', 'You said two', 'the last, without its end'])
  })

  it('a line that comes while a turn runs waits for its end', async () => {
    const mayAnswer = gate()
    await using chat = await chatWith(talker(() => ({}), request => ({ hold: mayAnswer.opened, text: `You said ${lastMessageText(request)}` })))
    chat.type('one\n')
    await chat.asked('one')
    chat.type('two\n')
    chat.endInput()
    mayAnswer.open()
    expect(await chat.finished).toEqual({ code: 0, stdout: 'You said one\nYou said two\n', stderr: '' })
    expect(messagesOf(chat.requests[0]!)).toHaveLength(1)
  })

  it('tells the agent of a child that settles while it waits for a line, and prints what it answers', async () => {
    const settles = gate()
    await using chat = await chatWith(talker(() => ({ hold: settles.opened, text: 'four' })))
    chat.type('Bg count\n')
    await chat.wrote('stdout', /Started\./)
    settles.open()
    await chat.wrote('stdout', /Heard subagent-1 completed: four/)
    chat.type('and now\n')
    chat.endInput()
    const { code, stdout, stderr } = await chat.finished
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Started.\nHeard subagent-1 completed: four\nYou said and now\n' })
    expect(stderr).toMatch(/^run-1 research "count" \[background subagent-1\] started\nrun-1 research "count" \[background subagent-1\] completed \(.+\)\nmain: told of subagent-1 completed\n$/)
  })

  it('prints an answer after which the agent goes on, because a child settled meanwhile', async () => {
    const settles = gate()
    const answers = gate()
    const told = gate()
    await using chat = await chatWith((request, index) => {
      const last = lastMessageText(request)
      if (last === 'wait') { told.open(); return { text: 'Waited.', hold: answers.opened } }
      return talker(() => ({ hold: settles.opened, text: 'four' }))(request, index)
    })
    chat.type('Bg count\n')
    await chat.wrote('stdout', /Started\./)
    chat.type('wait\n')
    await told.opened
    settles.open()
    await chat.wrote('stderr', /completed/)
    answers.open()
    await chat.wrote('stdout', /Heard/)
    chat.endInput()
    expect(await chat.finished).toMatchObject({ code: 0, stdout: 'Started.\nWaited.\nHeard subagent-1 completed: four\n' })
  })

  it('where the lines end it waits for what runs in the background, says for what, and for the turns that read it', async () => {
    const settles = gate()
    await using chat = await chatWith(talker(() => ({ hold: settles.opened, text: 'four' })), { input: 'Bg count\nBg again\n' })
    await chat.wrote('stderr', /offshoot: waiting for subagent-1 "count", subagent-2 "again"\n/)
    settles.open()
    const { code, stdout } = await chat.finished
    expect(code).toBe(0)
    expect(stdout.match(/subagent-\d completed: four/g)?.toSorted()).toEqual(['subagent-1 completed: four', 'subagent-2 completed: four'])
  })
})

describe.concurrent('the commands of offshoot chat', () => {
  it('are carried out in the order of the lines: /tasks, /tree, /kill', async () => {
    await using chat = await chatWith(talker(() => ({ hold: never })), { input: '/tasks\n/tree\nBg count\n/tasks\n/tree\n/kill subagent-1\n/kill subagent-1\n/tasks\n' })
    const { code, stdout } = await chat.finished
    expect(code).toBe(0)
    const lines = stdout.replaceAll(/\d+ ms/g, 'N ms').split('\n')
    expect(lines.slice(0, 10)).toEqual([
      'no background tasks',
      'main idle',
      'Started.',
      'subagent-1  running, step 1 "count" (N ms)',
      'main idle, 200 in + 40 out',
      '└─ run-1 research "count" [background subagent-1] model, step 1, 0 s',
      'subagent-1 killed',
      'subagent-1 had ended already (killed)',
      'subagent-1  killed "count" (N ms, not told yet)',
      'Heard subagent-1 killed: the user ended it',
    ])
  })

  it('/quit ends it with 0 although its standard input stays open', async () => {
    await using chat = await chatWith(talker(() => ({})))
    chat.type('one\n/quit\n')
    expect(await chat.finished).toEqual({ code: 0, stdout: 'You said one\n', stderr: '' })
  })
})

describe.concurrent('Ctrl-C in offshoot chat', () => {
  it('ends the turn: what runs in the background goes on, and the next line\'s turn hears of it', async () => {
    const settles = gate()
    await using chat = await chatWith(talker(() => ({ hold: settles.opened, text: 'four' }), hangs))
    chat.type('Bg count\n')
    await chat.wrote('stdout', /Started\./)
    chat.type('hang\n')
    await chat.asked('hang')
    chat.process.kill('SIGINT')
    await chat.wrote('stderr', /offshoot: not completed \(aborted\): interrupted\n/)
    settles.open()
    await chat.wrote('stderr', /subagent-1\] completed/)
    chat.type('still there?\n')
    chat.endInput()
    const { code, stdout, stderr } = await chat.finished
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Started.\nYou said still there?\n' })
    expect(stderr).toContain('offshoot: ending the turn; what runs in the background goes on (again: end everything)\n')
    expect(saidIn(chat.requests.at(-1)!, /four/g)).toEqual(['four'])
    await chat.requests.find(request => lastMessageText(request) === 'hang')!.closed
  })

  it('ends the turn: where the lines end before the agent hears of its background work, it is said what it was not told', async () => {
    const settles = gate()
    await using chat = await chatWith(talker(() => ({ hold: settles.opened, text: 'four' }), hangs))
    chat.type('Bg count\nhang\n')
    await chat.asked('hang')
    chat.process.kill('SIGINT')
    await chat.wrote('stderr', /not completed \(aborted\)/)
    chat.endInput()
    await chat.wrote('stderr', /offshoot: waiting for subagent-1 "count"\n/)
    settles.open()
    const { code, stderr } = await chat.finished
    expect(code).toBe(0)
    expect(stderr).toMatch(/\noffshoot: not told after the interrupt: subagent-1 "count" \(completed\)\n$/)
  })

  it('while no turn runs says so, and the agent still hears of its background work', async () => {
    const settles = gate()
    await using chat = await chatWith(talker(() => ({ hold: settles.opened, text: 'four' })))
    chat.type('Bg count\n')
    await chat.wrote('stdout', /Started\./)
    chat.process.kill('SIGINT')
    await chat.wrote('stderr', /offshoot: no turn runs; what runs in the background goes on \(again: end everything\)\n/)
    settles.open()
    await chat.wrote('stdout', /Heard subagent-1 completed: four/)
    // A turn was completed since: this one is a first one again.
    chat.process.kill('SIGINT')
    await chat.wrote('stderr', /offshoot: no turn runs \(again: end everything\)\n/)
    chat.endInput()
    expect(await chat.finished).toMatchObject({ code: 0 })
  })

  it('twice ends everything, the lines that wait included, and says what was cut: exit 130', async () => {
    await using chat = await chatWith(talker(() => ({ hold: never }), request => ({ hold: never, text: lastMessageText(request) })))
    chat.type('Bg count\nhang\nhang too\nnever\n')
    await chat.asked('hang')
    chat.process.kill('SIGINT')
    await chat.asked('hang too')
    chat.process.kill('SIGINT')
    const { code, stdout, stderr } = await chat.finished
    expect({ code, stdout }).toEqual({ code: 130, stdout: 'Started.\n' })
    expect(stderr).toMatch(/\noffshoot: interrupted, ending what runs \(again: at once\)\n[^]*\noffshoot: background work was cut: subagent-1 "count" \(running\)\n$/)
    await Promise.all(chat.requests.map(request => request.closed))
    expect(chat.requests.map(lastMessageText)).not.toContain('never')
    expect(chat.requests.filter(({ aborted }) => aborted).map(lastMessageText).toSorted()).toEqual(['Child count', 'hang', 'hang too'])
  })

  it('is not SIGTERM, which ends everything at once: exit 143', async () => {
    await using chat = await chatWith(talker(() => ({ hold: never })))
    chat.type('Bg count\n')
    await chat.wrote('stdout', /Started\./)
    chat.process.kill('SIGTERM')
    expect(await chat.finished).toMatchObject({ code: 143, stderr: expect.stringMatching(/\noffshoot: background work was cut: subagent-1 "count" \(running\)\n$/) })
  })
})

describe('offshoot chat, with all lines at once', () => {
  it('ends with 0 where there is no line at all', async () => {
    expect(await chatHere(talker(() => ({})), '')).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  it('a very long line is one turn', async () => {
    const line = 'x'.repeat(2_000_000)
    expect(await chatHere(talker(() => ({}), request => ({ text: `${lastMessageText(request).length}` })), `${line}\n`)).toEqual({ code: 0, stdout: '2000000\n', stderr: '' })
  })

  it('a turn that fails is one line, and the chat goes on', async () => {
    const { code, stdout, stderr } = await chatHere(talker(() => ({}), request => lastMessageText(request) === 'fail' ? { status: 400, error: 'no' } : { text: 'ok' }), 'fail\nagain\n')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'ok\n' })
    expect(stderr).toMatch(/^offshoot: not completed \(error\): .+ 400: no\n$/)
  })

  it('--quiet writes the answers alone', async () => {
    expect(await chatHere(talker(() => ({ text: 'four' })), 'Bg count\n', ['--quiet'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/subagent-1 completed: four/), stderr: '' })
  })

  it('commands that cannot be carried out say what would work', async () => {
    const { code, stderr } = await chatHere(talker(() => ({ hold: never })), '/kill x\n/taks\n/\nBg count\n/kill\n/kill nope\n/kill subagent-2\n/KILL subagent-1\n')
    expect(code).toBe(0)
    expect(stderr.match(/^offshoot: .*$/gm)).toEqual([
      'offshoot: /kill: there are no background tasks',
      'offshoot: unknown command "/taks"; did you mean "/tasks"? (commands: /approvals, /help, /kill, /quit, /tasks, /tree)',
      'offshoot: unknown command "/" (commands: /approvals, /help, /kill, /quit, /tasks, /tree)',
      'offshoot: /kill ID: which one? (tasks: subagent-1)',
      'offshoot: no task "nope" (tasks: subagent-1)',
      'offshoot: no task "subagent-2"; did you mean "subagent-1"? (tasks: subagent-1)',
    ])
  })

  it('/help names them all; /quit reads no more lines, and what was said before is still done; a path is no command', async () => {
    const { code, stdout, stderr } = await chatHere(talker(() => ({})), '/help\n/etc/hosts is empty\n/quit\nmore\n')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.match(/^\/\w+(?= )/gm)).toEqual(['/tasks', '/kill', '/tree', '/approvals', '/help', '/quit'])
    expect(stdout).toMatch(/\nYou said \/etc\/hosts is empty\n$/)
  })
})
