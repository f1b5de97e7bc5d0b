import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { SubagentError, type SubagentErrorCode } from '../error.ts'
import type { ProviderPromise } from './promises.ts'

/** Publication, the one signal, disposal, removal, events: design promises 1, 2, 4, 5 and 9. */
export const lifecycle: ProviderPromise[] = [
  {
    title: 'a start that fulfils hands over a live child, announced before its first model request',
    async check(app) {
      await app.children.behave({ kind: 'hang' })
      const requestsBefore = app.model.fake.requests.length
      const run = await app.start({ label: 'a child' })
      const [node] = app.ctx.subagents.tree()
      assert.equal(node?.runId, run.id, 'the run is not in tree()')
      assert.equal(node.label, 'a child')
      const [event] = app.eventsOf(run.id)
      assert.equal(event?.type, 'start', 'subagent/start was not sent')
      assert.equal(event.type === 'start' && event.modelRequests, requestsBefore, 'the child asked its model before subagent/start was sent')
      await app.within(run.dispose(), 'dispose() to settle')
    },
  },
  {
    title: 'a start that rejects leaves nothing behind and sends no event',
    async check(app) {
      const failing = app.harness.failingStart ?? { agentOptions: { model: 'no-such-model' } }
      await assert.rejects(app.start(failing), hasCode('START_FAILED'))
      assert.deepEqual(app.events, [])
      await app.assertNothingLeft()
    },
  },
  {
    title: 'an abort before the start rejects with ABORTED, and the provider is left alone',
    async check(app) {
      await assert.rejects(app.start({ signal: AbortSignal.abort() }), hasCode('ABORTED'))
      assert.deepEqual(app.events, [])
      await app.assertNothingLeft()
    },
  },
  {
    title: 'an abort during startup rejects with ABORTED, or yields a run that settles aborted',
    async check(app) {
      await app.children.behave({ kind: 'hang' })
      const controller = new AbortController()
      const starting = app.start({ signal: controller.signal })
      controller.abort()
      const run = await starting.catch((error: unknown) => {
        assert.ok(hasCode('ABORTED')(error))
        return undefined
      })
      if (run) {
        assert.equal((await app.resultOf(run)).stopReason, 'aborted')
        await app.within(run.dispose(), 'dispose() to settle')
      } else {
        assert.deepEqual(app.events, [])
      }
      await app.assertNothingLeft()
    },
  },
  {
    title: 'an abort while the child works settles it aborted, and nothing of it goes on',
    async check(app) {
      await app.children.behave({ kind: 'hang' })
      const controller = new AbortController()
      const run = await app.start({ signal: controller.signal })
      await app.within(app.children.underWay(), 'the child to be at work')
      controller.abort()
      assert.equal((await app.resultOf(run)).stopReason, 'aborted')
      await app.within(run.dispose(), 'dispose() to settle')
      await app.assertNothingLeft()
    },
  },
  {
    title: 'dispose() cancels what is left and is idempotent',
    async check(app) {
      await app.children.behave({ kind: 'hang' })
      const run = await app.startRaw()
      run.begin?.()
      await app.within(app.children.underWay(), 'the child to be at work')
      await Promise.all([app.within(run.dispose(), 'dispose() to settle'), app.within(run.dispose(), 'a second dispose() to settle')])
      await app.within(run.dispose(), 'a third dispose() to settle')
      assert.equal((await app.resultOf(run)).stopReason, 'aborted')
      await app.assertNothingLeft()
    },
  },
  {
    title: 'dispose() before the child began settles it aborted',
    async check(app) {
      const run = await app.startRaw()
      await app.within(run.dispose(), 'dispose() to settle')
      assert.equal((await app.resultOf(run)).stopReason, 'aborted')
      await app.assertNothingLeft()
    },
  },
  {
    title: 'a child whose agent goes before it began settles it aborted',
    async check(app) {
      const run = await app.startRaw()
      await run.agent?.dispose()
      if (run.agent) {
        run.begin?.()
        assert.equal((await app.resultOf(run)).stopReason, 'aborted')
      }
      await app.within(run.dispose(), 'dispose() to settle')
      await app.assertNothingLeft()
    },
  },
  {
    title: 'dispose() after the end leaves the outcome as it was, and nothing behind',
    async check(app) {
      await app.children.behave({ kind: 'answer', text: 'done' })
      const run = await app.start()
      const result = await app.resultOf(run)
      await app.within(run.dispose(), 'dispose() to settle')
      assert.equal(await run.result, result)
      await app.assertNothingLeft()
    },
  },
  {
    title: 'removing the provider refuses new starts, and a child that was handed over finishes',
    async check(app) {
      await app.children.behave({ kind: 'hang' })
      const controller = new AbortController()
      const run = await app.start({ signal: controller.signal })
      await app.within(app.children.underWay(), 'the child to be at work')
      const { provider } = app
      await app.within(removeProvider(app), 'the provider\'s plugin to unload')
      assert.equal(app.ctx.subagents.getProvider(provider.name), undefined, 'the provider outlived its plugin')
      await assert.rejects(app.start(), hasCode('NO_PROVIDER'))
      assert.deepEqual(app.eventsOf(run.id).map(({ type }) => type), ['start'], 'removing the provider ended a published child')
      controller.abort()
      assert.equal((await app.resultOf(run)).stopReason, 'aborted')
      await app.within(run.dispose(), 'dispose() to settle')
      await app.assertNothingLeft()
    },
  },
  {
    title: 'every published run has exactly one start and one end event, in this order, whatever ends it',
    async check(app) {
      for (const behaviour of [{ kind: 'echo' }, { kind: 'silent' }, { kind: 'fail', text: '', message: 'broken' }, { kind: 'refusal' }] as const) {
        await app.children.behave(behaviour)
        await app.runToEnd()
      }
      await app.children.behave({ kind: 'hang' })
      const disposed = await app.start()
      await app.within(disposed.dispose(), 'dispose() to settle')
      const runs = new Set(app.events.map(({ info }) => info.runId))
      assert.equal(runs.size, 5)
      for (const id of runs) assert.deepEqual(app.eventsOf(id).map(({ type }) => type), ['start', 'end'])
    },
  },
  {
    title: 'an observer that throws costs neither the child nor its caller anything',
    async check(app) {
      app.ctx.on('subagent/start', () => { throw new Error('observer') })
      app.ctx.on('subagent/end', () => { throw new Error('observer') })
      await app.children.behave({ kind: 'answer', text: 'unharmed' })
      assert.equal((await app.runToEnd()).stopReason, 'completed')
    },
  },
  {
    title: 'a long-lived signal carries no listener once its children are gone',
    async check(app) {
      const { signal } = new AbortController()
      for (let i = 0; i < 8; i++) await app.runToEnd({ signal })
      assert.equal(getEventListeners(signal, 'abort').length, 0)
    },
  },
]

async function removeProvider(app: Parameters<ProviderPromise['check']>[0]): Promise<void> {
  const mounted = [...app.ctx.registry.values()].flatMap(runtime => [...runtime.fibers])
    .find(fiber => fiber.getEffects().some(({ label }) => label.startsWith('ctx.subagents.registerProvider(')))
  assert.ok(mounted, 'the provider was not registered by a plugin of its own')
  await mounted.dispose()
}

function hasCode(code: SubagentErrorCode): (error: unknown) => boolean {
  return error => {
    assert.ok(error instanceof SubagentError, `expected a SubagentError ${code}, got ${String(error)}`)
    assert.equal(error.code, code, error.message)
    return true
  }
}
