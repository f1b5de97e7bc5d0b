import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { signalProcess, startApp } from './app.mjs'
import { survivors } from './survivors.mjs'

/** How long a child may take, with all it does; only what is broken comes near. */
const childLimitMs = 60_000
/** How long something that was begun may take to show. */
const showMs = 30_000

/** @typedef {'deny' | 'allow-once' | 'ask'} Permission */

/** One agent in an app of its own, with a HOME and a TMPDIR that nobody else has. */
export class Bench {
  /** What it asked, oldest first. @type {import('../../packages/approvals/src/index.ts').Approval[]} */
  asked = []
  /** Of each child, in the order in which they were over. @type {{ startMs: number, answerMs: number, disposeMs: number }[]} */
  times = []
  /** What the app warned of. @type {string[]} */
  warnings = []
  /** @type {Awaited<ReturnType<typeof startApp>> | undefined} */
  app

  /** @param {import('./llm/server.mjs').LoopbackModel} model @param {string} folder */
  constructor(model, folder) {
    this.model = model
    this.folder = folder
  }

  /**
   * @param {import('./peers.mjs').Peer} peer
   * @param {string} command
   * @param {import('./llm/server.mjs').LoopbackModel} model
   */
  static async open({ args, mode, env, files }, command, model) {
    const bench = new Bench(model, await realpath(mkdtempSync(join(tmpdir(), 'offshoot-peer-'))))
    process.once('exit', () => { bench.removeFolder() })
    const home = join(bench.folder, 'home')
    const temporary = join(bench.folder, 'tmp')
    for (const dir of [home, temporary]) mkdirSync(dir)
    for (const [path, text] of Object.entries(files(model.url))) {
      mkdirSync(dirname(join(home, path)), { recursive: true })
      writeFileSync(join(home, path), text)
    }
    const config = {
      command, args, ...mode === undefined ? {} : { mode },
      env: { HOME: home, TMPDIR: temporary, TERM: 'dumb', LANG: 'C.UTF-8', NO_PROXY: '127.0.0.1,localhost', ...env(model.url, home) },
    }
    /** @type {Permission[]} */
    const permissions = ['deny', 'allow-once', 'ask']
    bench.app = await startApp(permissions.map(permission => ({ ...config, name: permission, permission })),
      approval => { bench.asked.push(approval) }, line => { bench.warnings.push(line) })
    return bench
  }

  /**
   * Run a child in an empty folder of its own, and dispose it, whatever `body` does.
   *
   * @template T
   * @param {{ prompt: string | ((folder: string) => string), permission?: Permission }} options
   * @param {(child: { run: import('./app.mjs').SubagentRun, folder: string, cancel: () => void }) => Promise<T>} body
   * @returns {Promise<T>}
   */
  async child({ prompt, permission = 'deny' }, body) {
    const folder = mkdtempSync(join(this.folder, 'work-'))
    const controller = new AbortController()
    const cancel = () => { controller.abort(new Error('enough')) }
    const limit = setTimeout(cancel, childLimitMs)
    try {
      const startedAt = performance.now()
      const run = await this.opened.start(permission, { prompt: typeof prompt === 'string' ? prompt : prompt(folder), cwd: folder, signal: controller.signal })
      return await this.toTheEnd(run, performance.now() - startedAt, () => body({ run, folder, cancel }))
    } finally {
      clearTimeout(limit)
    }
  }

  /** @template T @param {import('./app.mjs').SubagentRun} run @param {number} startMs @param {() => Promise<T>} body @returns {Promise<T>} */
  async toTheEnd(run, startMs, body) {
    const beganAt = performance.now()
    let answerMs = 0
    void run.result.then(() => { answerMs = performance.now() - beganAt })
    try {
      return await body()
    } finally {
      const disposedAt = performance.now()
      await run.dispose()
      this.times.push({ startMs, answerMs, disposeMs: performance.now() - disposedAt })
    }
  }

  /** Wait for something that cannot be waited for otherwise: another program's doing. @param {string} what @param {() => boolean} isThere */
  async until(what, isThere) {
    const end = performance.now() + showMs
    while (!isThere()) {
      if (performance.now() > end) throw new Error(`${what}: not within ${showMs / 1000} s`)
      await delay(50)
    }
  }

  /** Whom the children that are over have left behind: what is said of each. They are ended. */
  sweep() {
    return survivors(this.folder).map(each => {
      signalProcess(each, 'SIGKILL')
      return `${each.pid} (group ${each.group}) ${each.command}`
    })
  }

  /** Ends what is left of it. */
  async close() {
    try {
      await this.opened.stop()
    } finally {
      this.sweep()
      this.removeFolder()
    }
  }

  removeFolder() {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }

  get opened() {
    if (!this.app) throw new Error('it is not open')
    return this.app
  }
}
