import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { signalProcess } from '../app.mjs'
import { answer, answerAfterTool, failure, prompts, tick } from '../llm/script.mjs'
import { survivors } from '../survivors.mjs'

/**
 * What our agent promises every client: a note where there is more to say than that it holds. Throws where it does not hold. `needs`: what not every client offers.
 *
 * @typedef {{ readonly title: string, readonly needs?: 'denies' | 'loads' | 'cancels' | 'hears', readonly run: (bench: import('./bench.mjs').ClientBench) => Promise<string | void> }} ClientCheck
 */

const write = prompts.run('printf done > effect')
/** @param {string} folder */
const hold = folder => prompts.run(`touch held; tail -f ${join(folder, 'held')}`)
/** @param {string} folder */
const hasEffect = folder => existsSync(join(folder, 'effect'))

/** @type {ClientCheck[]} */
export const clientChecks = [
  {
    title: 'a prompt is answered',
    async run(bench) {
      const run = bench.start({ prompt: 'Say hello.' })
      await run.ended
      assert.equal(run.text, answer, run.said)
      assert.doesNotMatch(run.outcome, /error|nothing/, run.said)
    },
  },
  {
    title: 'permission allowed: it is done',
    async run(bench) {
      const run = bench.start({ prompt: write, allow: true })
      await run.ended
      assert.ok(hasEffect(run.folder), `nothing is on disk: ${run.said}`)
      assert.ok(run.text.includes(answerAfterTool), run.said)
    },
  },
  {
    title: 'permission denied: nothing is done',
    needs: 'denies',
    async run(bench) {
      const run = bench.start({ prompt: write, allow: false })
      await run.ended
      assert.ok(run.asked > 0, `it was asked nothing: ${run.said}`)
      assert.ok(!hasEffect(run.folder), 'the command ran all the same')
      assert.ok(run.text.includes(answerAfterTool), run.said)
    },
  },
  {
    title: 'cancel mid-stream',
    needs: 'cancels',
    async run(bench) {
      const before = bench.model.cut
      const run = bench.start({ prompt: prompts.slow })
      await bench.until('the beginning of the answer', () => run.text.includes(tick))
      const at = performance.now()
      run.cancel()
      await bench.until('the end of the request to the model', () => bench.model.cut > before)
      const tookMs = performance.now() - at
      await run.ended
      return `after ${Math.round(tookMs)} ms, as \`${run.outcome}\``
    },
  },
  {
    title: 'cancel mid-tool: the command ends',
    needs: 'cancels',
    async run(bench) {
      const run = bench.start({ prompt: hold })
      await bench.until('the command', () => existsSync(join(run.folder, 'held')))
      run.cancel()
      await bench.until('the end of the command', () => !survivors(run.folder).some(({ command }) => command.startsWith('tail ')))
      await run.ended
    },
  },
  {
    title: 'an error of its model is told',
    async run(bench) {
      const run = bench.start({ prompt: prompts.fail })
      await run.ended
      assert.match(run.outcome, /^error/, run.said)
      return run.outcome.includes(failure) ? undefined : `as \`${run.outcome.slice(0, 60)}\``
    },
  },
  {
    title: 'a session is loaded by another process',
    needs: 'loads',
    async run(bench) {
      const first = bench.start({ prompt: 'Say hello.' })
      await first.ended
      assert.ok(first.sessionId, first.said)
      const second = bench.start({ prompt: write, load: first.sessionId, folder: first.folder })
      await second.ended
      assert.ok(hasEffect(second.folder), second.said)
    },
  },
  {
    title: 'the agent is killed: the client is told',
    needs: 'hears',
    async run(bench) {
      const run = bench.start({ prompt: prompts.slow })
      await bench.until('the beginning of the answer', () => run.text.includes(tick))
      const agents = bench.agents()
      assert.equal(agents.length, 1, `${agents.length} agents`)
      for (const agent of agents) signalProcess(agent, 'SIGKILL')
      const signal = await run.ended
      assert.equal(signal, null, 'the client did not end')
      return `as \`${run.outcome.slice(0, 60)}\``
    },
  },
  {
    title: 'the client is killed: the agent goes, with its command',
    async run(bench) {
      const run = bench.start({ prompt: hold })
      await bench.until('the command', () => existsSync(join(run.folder, 'held')))
      // All that is between us and our agent.
      const ours = new Set(bench.agents().map(({ pid }) => pid))
      const between = survivors(bench.folder).filter(({ pid, command }) => !ours.has(pid) && !command.startsWith('tail ') && !/^\S*sh /.test(command))
      const at = performance.now()
      for (const each of between) signalProcess(each, 'SIGKILL')
      await run.ended
      await bench.until('the end of the agent', () => survivors(bench.folder).length === 0)
      return `after ${Math.round(performance.now() - at)} ms`
    },
  },
]
