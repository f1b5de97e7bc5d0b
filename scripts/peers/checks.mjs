import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { answer, answerAfterTool, failure, prompts, tick } from './llm/script.mjs'
import { survivors } from './survivors.mjs'

/**
 * What is promised of every agent: a note where there is more to say than that it holds. Throws where it does not hold.
 *
 * @typedef {{ readonly title: string, readonly run: (bench: import('./bench.mjs').Bench) => Promise<string | void> }} Check
 */

/** An agent has no reason to ask for this one … */
const write = prompts.run('printf done > effect')
/** … and some ask for this one only. */
const removeAndWrite = prompts.run('rm -rf absent; printf done > effect')

/** @param {string} folder */
const hold = folder => prompts.run(`touch held; tail -f ${join(folder, 'held')}`)

/** @type {Check[]} */
export const checks = [
  {
    title: 'a prompt is answered',
    run: bench => bench.child({ prompt: 'Say hello.' }, async ({ run }) => completed(await run.result, answer)),
  },
  {
    title: 'a tool call has its effect',
    run: bench => bench.child({ prompt: write, permission: 'allow-once' }, async ({ run, folder }) => {
      const result = await run.result
      completed(result, answerAfterTool)
      assert.ok(hasEffect(folder), `nothing is on disk: ${said(result)}`)
      assert.ok(result.usage.toolCalls > 0, 'it told of no tool call')
    }),
  },
  {
    title: 'permission denied: nothing is done',
    run: bench => bench.child({ prompt: removeAndWrite }, async ({ run, folder }) => {
      const refusals = () => bench.warnings.filter(line => line.includes('refused: permission: deny')).length
      const before = refusals()
      const result = await run.result
      assert.ok(!hasEffect(folder), 'it ran the command all the same')
      assert.ok(refusals() > before, `it asked nobody: ${said(result)}`)
      return `its turn ends as \`${result.stopReason}\``
    }),
  },
  {
    title: 'permission allowed by a person: it is done',
    run: bench => bench.child({ prompt: removeAndWrite, permission: 'ask' }, async ({ run, folder }) => {
      const before = bench.asked.length
      await Promise.race([run.result, bench.until('a question', () => bench.asked.length > before)])
      if (bench.asked.length === before) assert.fail(`it asked nobody: ${said(await run.result)}`)
      assert.ok(!hasEffect(folder), 'it ran the command before it was allowed')
      for (const approval of bench.asked.slice(before)) approval.allow()
      completed(await run.result, answerAfterTool)
      assert.ok(hasEffect(folder), 'nothing is on disk')
    }),
  },
  {
    title: 'cancel while it asks',
    run: bench => bench.child({ prompt: removeAndWrite, permission: 'ask' }, async ({ run, folder, cancel }) => {
      const before = bench.asked.length
      await bench.until('a question', () => bench.asked.length > before)
      const note = await aborted(run, cancel)
      assert.ok(!hasEffect(folder), 'it ran the command')
      return note
    }),
  },
  {
    title: 'cancel mid-stream',
    run: bench => bench.child({ prompt: prompts.slow }, async ({ run, cancel }) => {
      const { ticks, cut } = bench.model
      await bench.until('a stream', () => bench.model.ticks > ticks + 5 && run.progress?.hasAnswered === true)
      const note = await aborted(run, cancel)
      assert.match(textOf(await run.result), new RegExp(tick), 'what was said is lost')
      // Before the disposal, which would end any stream.
      await bench.until('the end of the stream', () => bench.model.cut > cut)
      return note
    }),
  },
  {
    title: 'cancel mid-tool',
    run: bench => bench.child({ prompt: hold, permission: 'allow-once' }, async ({ run, folder, cancel }) => {
      await bench.until('a tool that runs', () => survivors(folder).some(({ command }) => command.startsWith('tail -f')))
      // Else a sweep that finds nothing would say nothing.
      assert.ok(survivors(bench.folder).some(({ command }) => !command.includes(folder)), 'the agent itself cannot be found')
      return aborted(run, cancel)
    }),
  },
  {
    title: 'two children at once',
    run: async bench => {
      const one = bench.child({ prompt: 'Say hello.' }, async ({ run }) => completed(await run.result, answer))
      const other = bench.child({ prompt: write, permission: 'allow-once' }, async ({ run, folder }) => {
        completed(await run.result, answerAfterTool)
        assert.ok(hasEffect(folder), 'nothing is on disk')
      })
      const failed = (await Promise.allSettled([one, other])).find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
    },
  },
  {
    title: 'an error of its model is told',
    run: bench => bench.child({ prompt: prompts.fail }, async ({ run }) => {
      const result = await run.result
      const told = `${result.diagnostic ?? ''} ${textOf(result)}`
      assert.ok(told.includes(failure), `the error is not in what it says: ${said(result)}`)
      assert.equal(result.stopReason, 'error', said(result))
      return 'as `error`'
    }),
  },
]

/** @param {import('./app.mjs').SubagentRun} run @param {() => void} cancel */
async function aborted(run, cancel) {
  const at = performance.now()
  cancel()
  const result = await run.result
  assert.equal(result.stopReason, 'aborted', said(result))
  return `after ${Math.round(performance.now() - at)} ms`
}

/** @param {import('./app.mjs').SubagentResult} result @param {string} text */
function completed(result, text) {
  assert.equal(result.stopReason, 'completed', said(result))
  // Agents put warnings of their own in front.
  assert.ok(textOf(result).includes(text), said(result))
}

/** @param {string} folder */
function hasEffect(folder) {
  return existsSync(join(folder, 'effect'))
}

/** @param {import('./app.mjs').SubagentResult} result */
function textOf({ output }) {
  return output.map(block => block.type === 'text' ? block.text : '').join('')
}

/** @param {import('./app.mjs').SubagentResult} result */
function said(result) {
  return `${result.stopReason}, "${textOf(result)}", ${result.diagnostic ?? 'no diagnostic'}`
}
