/**
 * What a model was asked, whatever the protocol.
 *
 * @typedef {object} Message
 * @property {'user' | 'agent' | 'tool' | 'other'} from
 * @property {string[]} texts
 *
 * @typedef {object} Request
 * @property {Message[]} messages
 * @property {string[]} tools the names of what it may call
 *
 * What it does next.
 *
 * @typedef {{ do: 'say', chunks: string[], pauseMs: number, slow: boolean }} Say
 * @typedef {{ do: 'run', tool: string, args: object }} Run
 * @typedef {{ do: 'fail', status: number, message: string }} Fail
 */

/** Prompts that the model understands; every other one is answered with `answer`. */
export const prompts = {
  /** @param {string} command */
  run: command => `RUN[${command}]`,
  slow: 'SLOW please',
  fail: 'ERR400 please',
}

export const answer = 'Hello from the loopback model.'
export const answerAfterTool = 'The tool has run.'
/** What a slow answer is made of. */
export const tick = 'tick'
export const failure = 'the loopback model refuses'

const shells = ['run_shell_command', 'exec_command', 'shell_command', 'local_shell', 'shell', 'bash', 'Bash', 'execute']

/**
 * A request without a shell is side traffic (titles, summaries), whatever it quotes: it gets the plain answer.
 *
 * @param {Request} request
 * @returns {Say | Run | Fail}
 */
export function decide({ messages, tools }) {
  const shell = shells.find(name => tools.includes(name))
  if (shell === undefined) return say(answer)
  const last = messages.findLast(({ from, texts }) => from === 'tool' || from === 'user' && texts.some(text => text.trim() !== ''))
  if (last?.from === 'tool') return say(answerAfterTool)
  // At the start of a text only: agents quote prompts in the middle of others.
  const words = (last?.texts ?? []).map(text => text.trim())
  if (words.some(text => text.startsWith('ERR400'))) return { do: 'fail', status: 400, message: failure }
  if (words.some(text => text.startsWith('SLOW'))) return { do: 'say', chunks: Array.from({ length: 600 }, (_, index) => `${tick}${index} `), pauseMs: 100, slow: true }
  const command = words.flatMap(text => /^RUN\[(.*)\]/s.exec(text)?.[1] ?? [])[0]
  return command === undefined ? say(answer) : { do: 'run', tool: shell, args: argumentsOf(shell, command) }
}

/** @param {string} text @returns {Say} */
function say(text) {
  return { do: 'say', chunks: text.split(/(?<= )/), pauseMs: 0, slow: false }
}

/** @param {string} tool @param {string} command */
function argumentsOf(tool, command) {
  if (tool === 'exec_command') return { cmd: command }
  if (tool === 'run_shell_command') return { command, description: 'run it', is_background: false }
  return { command, description: 'run it' }
}
