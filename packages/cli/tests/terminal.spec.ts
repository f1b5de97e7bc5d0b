import { type Handler, startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { describe, expect, it } from 'vitest'
import { appConfig, folderWith, type Running, start } from './support.ts'
import { gate, inBackground, lastMessageText, noticesOf } from './wire.ts'

const [up, toStart, clear] = ['\u001b[1A', '\u001b[1G', '\u001b[0J']
const erased = `${up}${toStart}${clear}`
const shown = `${toStart}${clear}> `

async function chatWith(handler: Handler): Promise<Running & AsyncDisposable> {
  const endpoint = await startEndpoint(handler)
  const chat = start(['chat'], { cwd: folderWith({ 'cordis.yml': appConfig }), env: { OPENAI_BASE_URL: endpoint.baseURL }, onTerminal: true })
  await chat.wrote('stderr', />/)
  return { ...chat, [Symbol.asyncDispose]: () => endpoint.close() }
}

describe.concurrent('offshoot chat, on a terminal', () => {
  it('prompts; Enter is a turn, Ctrl-D the end, and the prompt is gone then', async () => {
    await using chat = await chatWith(request => ({ text: `You said ${lastMessageText(request)}` }))
    chat.type('one\r')
    await chat.wrote('stdout', /You said one\n/)
    chat.type('\u0004')
    const { code, stdout, stderr } = await chat.finished
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'You said one\n' })
    expect(stderr.endsWith(`> \u001b[3G${toStart}${clear}`)).toBe(true)
  })

  it('what is written meanwhile stands above the line that is being typed, which stays whole, however many rows it has', async () => {
    const settles = gate()
    await using chat = await chatWith(request => {
      const last = lastMessageText(request)
      if (last === 'Bg') return { calls: [inBackground('count', 'Count.')] }
      if (last === 'Count.') return { hold: settles.opened, text: 'four' }
      return { text: noticesOf(request).length > 0 ? 'Heard.' : `You said ${last}` }
    })
    chat.type('Bg\r')
    await chat.wrote('stdout', /You said started/)
    const line = 'a line of more than the forty columns that this terminal has'
    chat.type(line)
    await chat.wrote('stderr', /terminal has$/)
    settles.open()
    await chat.wrote('stdout', /Heard\./)
    chat.type('!\r')
    await chat.wrote('stdout', /!/)
    chat.type('\u0004')
    const { code, stdout, stderr } = await chat.finished
    expect(code).toBe(0)
    expect(stdout).toContain(`You said ${line}!\n`)
    // Its two rows are taken away, the text is written, and they stand below it; the answer went to stdout.
    const redrawn = `${shown}${line}\u001b[23G`
    expect(stderr.replace(/\(\S+ m?s\)/, '(N s)')).toContain(
      `${line}${erased}run-1 research "count" [background subagent-1] completed (N s)\n${redrawn}${erased}main: told of subagent-1 completed\n${redrawn}${erased}${redrawn}`,
    )
  })

  it('a command is carried out at once, while a turn runs; a line waits', async () => {
    const [asked, mayAnswer] = [gate(), gate()]
    await using chat = await chatWith(request => {
      asked.open()
      return { hold: mayAnswer.opened, text: `You said ${lastMessageText(request)}` }
    })
    chat.type('one\r')
    await asked.opened
    chat.type('two\r/tree\r')
    await chat.wrote('stdout', /main model, step 1\n/)
    mayAnswer.open()
    await chat.wrote('stdout', /You said one\nYou said two\n/)
    chat.type('/quit\r')
    expect(await chat.finished).toMatchObject({ code: 0, stdout: 'main model, step 1\nYou said one\nYou said two\n' })
  })

  it('Ctrl-C as a key is the turn, twice is the tree', async () => {
    const never = new Promise<never>(() => {})
    const asked = gate()
    await using chat = await chatWith(() => {
      asked.open()
      return { hold: never }
    })
    chat.type('hang\r')
    await asked.opened
    chat.type('\u0003')
    await chat.wrote('stderr', /offshoot: ending the turn \(again: end everything\)\n[^]*offshoot: not completed \(aborted\): interrupted\n/)
    chat.type('\u0003')
    const { code, stderr } = await chat.finished
    expect(code).toBe(130)
    expect(stderr).toContain('offshoot: interrupted, ending what runs (again: at once)\n')
  })
})
