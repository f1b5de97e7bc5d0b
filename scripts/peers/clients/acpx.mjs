// A command: what passes over its wire is on its stdout, and it is cancelled as commands are.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { drive, onCancel, say, task } from './protocol.mjs'

await drive(async () => {
  const program = join(task.library, 'node_modules', 'acpx', 'dist', 'cli.js')
  const agent = [task.command, ...task.args].map(word => `'${word}'`).join(' ')
  const acpx = spawn(task.node, [program, '--format', 'json', task.allow ? '--approve-all' : '--deny-all', '--timeout', '60', '--agent', agent, '--cwd', task.cwd, 'exec', task.prompt], { stdio: ['ignore', 'pipe', 'inherit'] })
  onCancel(() => { acpx.kill('SIGINT') })
  let told = false
  for await (const line of createInterface({ input: acpx.stdout })) {
    const { method, params, result, error } = read(line)
    if (result?.sessionId !== undefined) say({ event: 'session', id: result.sessionId })
    if (method === 'session/request_permission') say({ event: 'asked' })
    if (method === 'session/update' && params.update.sessionUpdate === 'agent_message_chunk') say({ event: 'text', text: params.update.content.text })
    if (result?.stopReason !== undefined) say({ event: 'end', reason: result.stopReason })
    if (error && !told) {
      told = true
      say({ event: 'error', message: error.message })
    }
  }
  const [code] = await new Promise(resolve => { acpx.once('exit', (...how) => { resolve(how) }) })
  if (code !== 0 && !told) say({ event: 'error', message: `exit code ${code}` })
})

/** @param {string} line */
function read(line) {
  try {
    return JSON.parse(line)
  } catch {
    return {}
  }
}
