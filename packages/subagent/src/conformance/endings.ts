import { textOf } from '@offshoot/session'
import assert from 'node:assert/strict'
import type { ConformanceApp } from './app.ts'
import type { ProviderPromise } from './promises.ts'

/** What a result may say: design promises 3, 7 and 8. */
export const endings: ProviderPromise[] = [
  {
    title: 'a child that answers completes with its text',
    async check(app) {
      await app.children.behave({ kind: 'answer', text: 'The answer.' })
      const result = await app.runToEnd()
      assert.equal(result.stopReason, 'completed', result.diagnostic)
      assert.equal(textOf(result.output), 'The answer.')
    },
  },
  {
    title: 'the output is the last text of the child, not what it wrote on the way',
    async check(app) {
      await app.children.behave({ kind: 'work', first: 'Let me look.', last: 'Found it.' })
      const result = await app.runToEnd()
      assert.equal(result.stopReason, 'completed', result.diagnostic)
      assert.equal(textOf(result.output), 'Found it.')
    },
  },
  {
    title: 'a child that says nothing ends with empty-output, never completed',
    async check(app) {
      await assertSilenceIsEmpty(app)
    },
  },
  {
    title: 'the output is never a text of the parent\'s, whatever the child saw of it',
    async check(app) {
      app.model.behave({ kind: 'answer', text: 'Words of the parent.' })
      await app.parent.run('Say something.')
      await assertSilenceIsEmpty(app)
    },
  },
  {
    title: 'a child that fails settles with error: its result does not reject',
    async check(app) {
      await app.children.behave({ kind: 'fail', text: '', message: 'the wire broke' })
      const run = await app.startRaw()
      run.begin?.()
      const result = await app.resultOf(run)
      assert.equal(result.stopReason, 'error')
      assert.match(result.diagnostic ?? '', /the wire broke/, 'the diagnostic does not say why')
      await run.dispose()
    },
  },
  {
    title: 'partial text of a child that failed is kept, and is no success',
    async check(app) {
      await app.children.behave({ kind: 'fail', text: 'Half an ans', message: 'cut' })
      const result = await app.runToEnd()
      assert.equal(result.stopReason, 'error')
      assert.equal(textOf(result.output), 'Half an ans')
      assert.doesNotMatch(result.diagnostic ?? '', /Half an ans/, 'the diagnostic holds the child\'s words')
    },
  },
  {
    title: 'a child cut by the output token limit ends with max-tokens',
    async check(app) {
      await app.children.behave({ kind: 'truncated', text: 'It goes on and' })
      const result = await app.runToEnd()
      assert.equal(result.stopReason, 'max-tokens')
      assert.equal(textOf(result.output), 'It goes on and')
    },
  },
  {
    title: 'a child that declines ends with refusal',
    async check(app) {
      await app.children.behave({ kind: 'refusal' })
      assert.equal((await app.runToEnd()).stopReason, 'refusal')
    },
  },
  {
    title: 'children at once keep their answers apart',
    async check(app) {
      await app.children.behave({ kind: 'echo' })
      const prompts = Array.from({ length: 8 }, (_, i) => `marker ${i} of eight`)
      const results = await Promise.all(prompts.map(prompt => app.runToEnd({ prompt })))
      results.forEach((result, i) => {
        assert.equal(result.stopReason, 'completed', result.diagnostic)
        const text = textOf(result.output)
        assert.deepEqual(prompts.filter(prompt => text.includes(prompt)), [prompts[i]])
      })
      await app.assertNothingLeft()
    },
  },
]

async function assertSilenceIsEmpty(app: ConformanceApp): Promise<void> {
  await app.children.behave({ kind: 'silent' })
  const run = await app.startRaw()
  run.begin?.()
  const result = await app.resultOf(run)
  assert.equal(result.stopReason, 'empty-output')
  assert.equal(textOf(result.output), '')
  await run.dispose()
}
