import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { root } from '../../workspace.mjs'
import { signalProcess } from '../app.mjs'
import { survivors } from '../survivors.mjs'

const bin = join(root, 'packages', 'cli', 'lib', 'bin.cjs')
/** How long a client may take, with all it does; only what is broken comes near. */
const clientLimitMs = 60_000
/** How long something that was begun may take to show. */
const showMs = 30_000
/** What our agent promises. */
const leaveMs = 2000

/** @typedef {import('./protocol.mjs').Event} Event */
/** @typedef {{ library: string, node: string }} Installation */

/** One client, on an app of its own, with a HOME that nobody else has. */
export class ClientBench {
  /** Of each run that was answered. @type {{ answerMs: number }[]} */
  times = []

  /** @param {import('./clients.mjs').Client} client @param {Installation} installation @param {import('../llm/server.mjs').LoopbackModel} model */
  constructor(client, installation, model) {
    this.client = client
    this.installation = installation
    this.model = model
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'offshoot-client-')))
    process.once('exit', () => { this.removeFolder() })
    this.home = join(this.folder, 'home')
    mkdirSync(this.home)
    this.config = join(this.folder, 'cordis.yml')
    writeFileSync(this.config, `
- name: '@offshoot/runtime'
  config: { approvals: { execute: ask }, session: { dir: ${join(this.folder, 'kept')} } }
- name: '@offshoot/model-ai-sdk'
  config: { baseURL: '${model.url}/v1', model: fake-model }
- name: '@offshoot/tool-shell'
`)
  }

  /**
   * Have the client give our agent one prompt, in an empty folder of its own.
   *
   * @param {{ prompt: string | ((folder: string) => string), allow?: boolean, load?: string, folder?: string }} options
   */
  start({ prompt, allow = true, load, folder = mkdtempSync(join(this.folder, 'work-')) }) {
    const task = {
      ...this.installation, command: process.execPath, args: [bin, 'acp', '-c', this.config], cwd: folder, allow,
      prompt: typeof prompt === 'string' ? prompt : prompt(folder), ...load === undefined ? {} : { load },
    }
    return new ClientRun(this, task, folder)
  }

  /** Our agent, as a process: where the client has started it. */
  agents() {
    return survivors(this.folder).filter(({ command }) => command.startsWith(`${process.execPath} ${bin} `))
  }

  /** Wait for something that cannot be waited for otherwise: another program's doing. @param {string} what @param {() => boolean} isThere */
  async until(what, isThere) {
    const end = performance.now() + showMs
    while (!isThere()) {
      if (performance.now() > end) throw new Error(`${what}: not within ${showMs / 1000} s`)
      await delay(50)
    }
  }

  /** Whom the runs that are over have left behind: what is said of each. They are ended. An agent whose client has just gone has the time that it takes to leave. */
  async sweep() {
    for (const end = performance.now() + leaveMs; survivors(this.folder).length > 0 && performance.now() < end;) await delay(50)
    return survivors(this.folder).map(each => {
      signalProcess(each, 'SIGKILL')
      return `${each.pid} (group ${each.group}) ${each.command}`
    })
  }

  async close() {
    await this.sweep()
    this.removeFolder()
  }

  removeFolder() {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

/** A client at work. */
class ClientRun {
  /** @type {Event[]} */
  events = []
  stderr = ''

  /** @param {ClientBench} bench @param {import('./protocol.mjs').Task} task @param {string} folder */
  constructor(bench, task, folder) {
    this.bench = bench
    this.folder = folder
    const startedAt = performance.now()
    this.process = spawn(process.execPath, [bench.client.driver, JSON.stringify(task)], {
      cwd: folder, stdio: ['pipe', 'pipe', 'pipe'], env: { PATH: process.env['PATH'], HOME: bench.home, TERM: 'dumb', LANG: 'C.UTF-8', NO_PROXY: '127.0.0.1,localhost' },
    })
    this.process.stderr.setEncoding('utf8').on('data', chunk => { this.stderr += chunk })
    createInterface({ input: this.process.stdout }).on('line', line => {
      const event = /** @type {Event} */ (JSON.parse(line))
      if (event.event === 'text' && this.text === '') bench.times.push({ answerMs: performance.now() - startedAt })
      this.events.push(event)
    })
    const limit = setTimeout(() => { this.process.kill('SIGKILL') }, clientLimitMs)
    /** Settles when the client is gone, with all that it said. */
    this.ended = new Promise(resolve => {
      this.process.once('close', (_code, signal) => {
        clearTimeout(limit)
        resolve(signal)
      })
    })
  }

  /** What the agent said. */
  get text() {
    return this.events.map(each => each.event === 'text' ? each.text : '').join('')
  }

  /** How it ended, as far as the client knows: the reason, or the error. */
  get outcome() {
    const last = this.events.findLast(({ event }) => event === 'end' || event === 'error')
    return last?.event === 'end' ? last.reason : last?.event === 'error' ? `error: ${last.message}` : 'nothing'
  }

  get asked() {
    return this.events.filter(({ event }) => event === 'asked').length
  }

  get sessionId() {
    const event = this.events.find(each => each.event === 'session')
    return event?.event === 'session' ? event.id : undefined
  }

  cancel() {
    this.process.stdin.write('cancel\n')
  }

  /** For a message: what it did. */
  get said() {
    return `${this.outcome}, "${this.text.slice(0, 200)}", asked ${this.asked} times${this.stderr === '' ? '' : `, stderr: ${this.stderr.trim().split('\n').slice(-4).join(' | ')}`}`
  }
}
